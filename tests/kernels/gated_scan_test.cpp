// gated_scan_test.cpp -- running sums with a forgetting of each row's own against a plain loop in
// double, forwards and backwards, every width and direction.
#include "kernels/gated_scan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/gradient_check.h"

namespace linnet {
namespace {

class GatedScanTest : public testing::TestWithParam<int64_t> {};

TEST_P(GatedScanTest, IsThePlainLoop) {
  const int64_t cols = GetParam(), ld = cols + 3;
  for (const int64_t rows : {1, 2, 7, 120}) {
    for (const int64_t step : {1, -1}) {
      const auto v = random_floats(rows * ld, 1), dout = random_floats(rows * ld, 2);
      const auto b = random_floats(cols, 3), before = random_floats(cols, 4),
                 owed = random_floats(cols, 5);
      std::vector<float> e = random_floats(rows * ld, 6);
      for (float& x : e) x = x > 1.5f ? 1 : x < -1.5f ? 0 : std::abs(x) / (1 + std::abs(x));
      const int64_t first = step > 0 ? 0 : rows - 1;
      const auto in_order = [&](const std::vector<float>& m) {
        return ConstMat(m.data() + first * ld, step * ld);
      };
      const auto out_in_order = [&](std::vector<float>& m) {
        return Mat{m.data() + first * ld, step * ld};
      };

      std::vector<float> h = before, out = v, l = owed, dv = dout, de(v.size());
      gated_scan(0, cols, b.data(), in_order(e), in_order(v), h.data(), {});
      EXPECT_EQ(h, before);
      gated_scan(rows, cols, b.data(), in_order(e), in_order(out), h.data(), out_in_order(out));
      gated_scan_backward(rows, cols, b.data(), in_order(e), before.data(), in_order(out),
                          in_order(dv), l.data(), out_in_order(dv), out_in_order(de));

      for (int64_t c = 0; c < cols; ++c) {
        const auto at = static_cast<size_t>(c);
        std::vector<double> past = {before[at]};
        for (int64_t r = 0; r < rows; ++r) {
          past.push_back((1.0 - in_order(e).row(r)[c]) * past.back() +
                         static_cast<double>(b[at]) * in_order(v).row(r)[c]);
          EXPECT_NEAR(in_order(out).row(r)[c], past.back(), 2e-5 * (1 + std::abs(past.back())));
        }
        EXPECT_EQ(h[at], in_order(out).row(rows - 1)[c]);
        double back = owed[at];
        for (int64_t r = rows; r-- > 0;) {
          back += in_order(dout).row(r)[c];
          EXPECT_NEAR(in_order(dv).row(r)[c], b[at] * back, 1e-4);
          EXPECT_NEAR(in_order(de).row(r)[c], -back * past[static_cast<size_t>(r)], 1e-4);
          back *= 1.0 - in_order(e).row(r)[c];
        }
        EXPECT_NEAR(l[at], back, 2e-5 * (1 + std::abs(back)));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, GatedScanTest, testing::Values(1, 5, 8, 16, 23));

}  // namespace
}  // namespace linnet
