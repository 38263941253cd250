// drop_tokens_test.cpp -- which tokens go, how many, and that something stays.
#include "data/drop_tokens.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace linnet {
namespace {

TEST(DropTokensTest, TheShareGoesAndTheOrderStays) {
  Example example;
  example.tokens.resize(10'000);
  std::iota(example.tokens.begin(), example.tokens.end(), 0);
  example.other = example.tokens;
  Random random(3);
  drop_tokens(0.3, random, example);
  for (const auto& tokens : {example.tokens, example.other}) {
    EXPECT_NEAR(static_cast<double>(tokens.size()), 7000, 200);  // four standard deviations
    EXPECT_TRUE(std::ranges::is_sorted(tokens));
  }
  EXPECT_NE(example.tokens, example.other);
}

TEST(DropTokensTest, SomethingStays) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    Example example{.tokens = {7, 8}};
    drop_tokens(0.99, random, example);
    EXPECT_FALSE(example.tokens.empty());
    EXPECT_TRUE(example.other.empty());
  }
}

}  // namespace
}  // namespace linnet
