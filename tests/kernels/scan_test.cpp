// scan_test.cpp -- running sums with decays against a plain loop in double, forwards and backwards,
// every width and direction.
#include "kernels/scan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/gradient_check.h"

namespace linnet {
namespace {

class ScanTest : public testing::TestWithParam<int64_t> {};

TEST_P(ScanTest, IsThePlainLoop) {
  const int64_t cols = GetParam();
  for (const int64_t rows : {1, 2, 7, 120}) {
    for (const int64_t step : {1, -1}) {
      const int64_t n = kScanSums * cols, ld = cols + 3;
      const auto v = random_floats(rows * ld, 1), ds = random_floats(rows * ld, 2);
      const auto u = random_floats(n, 3), before = random_floats(n, 4), owed = random_floats(n, 5);
      std::vector<float> e = random_floats(n, 6);
      for (float& x : e) x = 0.001f + 0.5f * std::abs(x) / (1 + std::abs(x));
      const int64_t first = step > 0 ? 0 : rows - 1;
      const ConstMat in(v.data() + first * ld, step * ld), dout(ds.data() + first * ld, step * ld);

      std::vector<float> h = before, s(v.size(), 1.0f), dv(v.size(), 1.0f), l = owed;
      std::vector<float> da(e.size(), 1.0f), du(e.size(), 1.0f);
      std::vector<float> history(static_cast<size_t>(scan_history_floats(rows)));
      scan(rows, cols, e.data(), u.data(), in, h.data(), {s.data() + first * ld, step * ld});
      scan_backward(rows, cols, e.data(), u.data(), in, before.data(), dout, l.data(),
                    {dv.data() + first * ld, step * ld}, da.data(), du.data(), history.data());

      for (int64_t c = 0; c < cols; ++c) {
        std::vector<double> sums(static_cast<size_t>(rows), 1), to_v(static_cast<size_t>(rows), 1);
        for (int64_t k = 0; k < kScanSums; ++k) {
          const auto at = static_cast<size_t>(k * cols + c);
          const double a = 1.0 - e[at];
          std::vector<double> past = {before[at]};
          for (int64_t r = 0; r < rows; ++r) {
            past.push_back(a * past.back() + in.row(r)[c]);
            sums[static_cast<size_t>(r)] += u[at] * past.back();
          }
          double back = owed[at], to_a = 1, to_u = 1;
          for (int64_t r = rows; r-- > 0;) {
            back += static_cast<double>(u[at]) * dout.row(r)[c];
            to_v[static_cast<size_t>(r)] += back;
            to_u += dout.row(r)[c] * past[static_cast<size_t>(r + 1)];
            to_a += back * past[static_cast<size_t>(r)];
            back *= a;
          }
          EXPECT_NEAR(h[at], past.back(), 2e-5 * (1 + std::abs(past.back())));
          EXPECT_NEAR(l[at], back, 2e-5 * (1 + std::abs(back)));
          EXPECT_NEAR(da[at], to_a, 1e-3 * (1 + std::abs(to_a)));
          EXPECT_NEAR(du[at], to_u, 1e-3 * (1 + std::abs(to_u)));
        }
        for (int64_t r = 0; r < rows; ++r) {
          const auto at = static_cast<size_t>((first + step * r) * ld + c);
          EXPECT_NEAR(s[at], sums[static_cast<size_t>(r)], 2e-4);
          EXPECT_NEAR(dv[at], to_v[static_cast<size_t>(r)], 2e-4);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, ScanTest, testing::Values(1, 5, 8, 16, 23));

}  // namespace
}  // namespace linnet
