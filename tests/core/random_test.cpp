// random_test.cpp -- Philox against its published vectors, and the draws made from it.
#include "core/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

namespace linnet {
namespace {

// kat_vectors of the Random123 library: counter words 0 and 1 are our index, 2 and 3 our stream.
TEST(Philox, GivesThePublishedVectors) {
  EXPECT_EQ(philox(0, 0, 0), (Philox4{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint64_t kOnes = ~uint64_t{0};
  EXPECT_EQ(philox(kOnes, kOnes, kOnes), (Philox4{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  // Counter 243f6a88 85a308d3 13198a2e 03707344, key a4093822 299f31d0: the digits of pi.
  EXPECT_EQ(philox(0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88),
            (Philox4{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, IsItsStreamInOrder) {
  Random random(5, 9);
  for (uint64_t index = 0; index < 10; ++index) {
    for (const uint32_t word : philox(5, 9, index)) EXPECT_EQ(random.bits(), word);
  }
  Random copy = random;
  const uint64_t high = copy.bits(), low = copy.bits();
  EXPECT_EQ(random.bits64(), high << 32 | low);
}

TEST(Random, KeysAndStreamsDiffer) {
  std::set<uint64_t> seen;
  for (uint64_t key = 0; key < 30; ++key) {
    for (uint64_t stream = 0; stream < 30; ++stream) seen.insert(Random(key, stream).bits64());
  }
  EXPECT_EQ(seen.size(), 900u);
}

TEST(Random, UniformFillsItsRangeEvenly) {
  Random random(1);
  constexpr int kDraws = 200000, kBins = 50;
  std::array<int, kBins> bins{};
  for (int i = 0; i < kDraws; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    ++bins[static_cast<size_t>(u * kBins)];
  }
  double chi = 0;
  for (const int count : bins) chi += std::pow(count - kDraws / kBins, 2) / (kDraws / kBins);
  // 49 degrees of freedom: 49 +- 10, five deviations.
  EXPECT_LT(chi, 49 + 5 * 9.9);
}

TEST(Random, BelowIsUnbiased) {
  // With n = 0xC0000000 a plain modulus would draw the lower third twice as often.
  for (const uint32_t n : {1u, 2u, 7u, 10u, 1000u, 0xC0000000u, 0xFFFFFFFFu}) {
    Random random(2, n);
    constexpr int kDraws = 60000;
    double sum = 0;
    int lower_third = 0;
    for (int i = 0; i < kDraws; ++i) {
      const uint32_t draw = random.below(n);
      ASSERT_LT(draw, n);
      sum += draw;
      lower_third += draw < n / 3;
    }
    const double mean = sum / kDraws, expected = (static_cast<double>(n) - 1) / 2;
    const double deviation = std::sqrt((static_cast<double>(n) * n - 1) / 12 / kDraws);
    EXPECT_NEAR(mean, expected, 4 * deviation + 1e-9) << n;
    const double third = static_cast<double>(n / 3) / n;
    EXPECT_NEAR(lower_third / static_cast<double>(kDraws), third, 4 * 0.5 / std::sqrt(kDraws)) << n;
  }
  std::array<int, 7> bins{};
  Random random(3);
  for (int i = 0; i < 70000; ++i) ++bins[random.below(7)];
  for (const int count : bins) EXPECT_NEAR(count, 10000, 400);
}

TEST(Random, NormalHasTheMomentsOfOne) {
  Random random(4);
  constexpr int kDraws = 200000;
  double first = 0, second = 0, third = 0, fourth = 0;
  int beyond_three = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal();
    ASSERT_TRUE(std::isfinite(x));
    first += x;
    second += x * x;
    third += x * x * x;
    fourth += x * x * x * x;
    beyond_three += std::abs(x) > 3;
  }
  // Deviations of the means of x, x^2, x^3, x^4: sqrt(1, 2, 15, 96) / sqrt(n); four of each.
  const double root = std::sqrt(static_cast<double>(kDraws));
  EXPECT_NEAR(first / kDraws, 0, 4 / root);
  EXPECT_NEAR(second / kDraws, 1, 4 * std::sqrt(2) / root);
  EXPECT_NEAR(third / kDraws, 0, 4 * std::sqrt(15) / root);
  EXPECT_NEAR(fourth / kDraws, 3, 4 * std::sqrt(96) / root);
  EXPECT_NEAR(beyond_three / static_cast<double>(kDraws), 0.0027, 4 * std::sqrt(0.0027) / root);
}

}  // namespace
}  // namespace linnet
