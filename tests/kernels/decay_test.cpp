// decay_test.cpp -- products times powers by distance, and their backward, against double at every
// width, offset and with the future hidden.
#include "kernels/decay.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <vector>

#include "core/context.h"
#include "tests/gradient_check.h"

namespace linnet {
namespace {

constexpr int64_t kReach = 130;
constexpr double kDecay = 0.97;

class DecayTest : public testing::TestWithParam<bool> {};

TEST_P(DecayTest, IsThePlainLoopInBothDirections) {
  Context context(1);
  const bool causal = GetParam();
  const auto power_of = [&](int64_t n) {
    return causal && n > 0 ? 0 : std::pow(kDecay, static_cast<double>(std::abs(n)));
  };
  std::vector<float> power, distance;
  for (int64_t n = -kReach; n <= kReach; ++n) {
    power.push_back(static_cast<float>(power_of(n)));
    distance.push_back(static_cast<float>(std::abs(n)));
  }
  for (const int64_t rows : {1, 3, 16, 61}) {
    for (const int64_t cols : {1, 5, 8, 16, 17, 33, 60, 64}) {
      for (const int64_t offset : {0, 1, 37}) {
        const int64_t ld = cols + 3;
        const auto products = random_floats(rows * ld, 1), owed = random_floats(rows * ld, 2),
                   bias = random_floats(rows, 3), before = random_floats(rows, 4);
        std::vector<float> a = products, da = owed, sums = before, along(bias.size());
        const float *powers = power.data() + kReach, *distances = distance.data() + kReach;
        decay_products(rows, cols, offset, powers, {a.data(), ld}, sums.data());
        decay_products_backward(rows, cols, offset, powers, distances, {a.data(), ld}, bias.data(),
                                {da.data(), ld}, along.data());
        for (int64_t i = 0; i < rows; ++i) {
          const auto row = static_cast<size_t>(i);
          double sum = before[row], slope = 0;
          for (int64_t j = 0; j < ld; ++j) {
            const auto at = static_cast<size_t>(i * ld + j);
            const int64_t n = j - i - offset;
            const double decayed = products[at] * power_of(n),
                         due = static_cast<double>(owed[at]) + bias[row];
            if (j >= cols) {  // the gap between two rows
              EXPECT_EQ(a[at], products[at]);
              EXPECT_EQ(da[at], owed[at]);
              continue;
            }
            EXPECT_NEAR(a[at], decayed, 1e-6);
            EXPECT_NEAR(da[at], due * power_of(n), 2e-6);
            sum += decayed;
            slope += static_cast<double>(std::abs(n)) * decayed * due;
          }
          EXPECT_NEAR(sums[row], sum, 2e-5);
          EXPECT_NEAR(along[row], slope, 1e-5 * (10 + 100 * std::sqrt(cols)));
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Future, DecayTest, testing::Bool());

}  // namespace
}  // namespace linnet
