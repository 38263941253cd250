// example_cache_test.cpp -- examples come back as they were, and what cannot be kept is no fault.
#include "data/example_cache.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

namespace linnet {
namespace {

std::vector<Example> odd_examples() {
  std::vector<Example> examples = {{.tokens = {0}}, {.tokens = {}, .label = -1, .record = 1 << 30}};
  for (const int32_t largest : {255, 256, 65535, 65536, INT32_MAX})
    examples.push_back({.tokens = {7, largest, 0},
                        .other = {largest},
                        .label = 3,
                        .targets = {-1, largest, -1},
                        .record = int64_t{1} << 40});
  return examples;
}

void expect_equal(const std::vector<Example>& a, const std::vector<Example>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].tokens, b[i].tokens);
    EXPECT_EQ(a[i].other, b[i].other);
    EXPECT_EQ(a[i].targets, b[i].targets);
    EXPECT_EQ(a[i].label, b[i].label);
    EXPECT_EQ(a[i].record, b[i].record);
  }
}

TEST(ExampleCacheTest, ExamplesComeBack) {
  ExampleCache cache(testing::TempDir());
  const std::vector<Example> examples = odd_examples();
  cache.keep(0, examples, 9, false);
  cache.keep(9, {}, 9, true);
  cache.keep(20, {examples[3]}, 21, true);
  const auto all = cache.find(0), none = cache.find(9), one = cache.find(20);
  ASSERT_TRUE(all && none && one);
  expect_equal(all->examples, examples);
  EXPECT_EQ(all->end, 9);
  EXPECT_FALSE(all->last);
  EXPECT_TRUE(none->examples.empty());
  EXPECT_TRUE(none->last);
  expect_equal(one->examples, {examples[3]});
  EXPECT_FALSE(cache.find(1));
}

TEST(ExampleCacheTest, LargeSpansAreWrittenInPieces) {
  ExampleCache cache(testing::TempDir());
  std::vector<Example> examples;
  for (int32_t i = 0; i < 300; ++i)
    examples.push_back({.tokens = std::vector<int32_t>(10'007, 70'000 + i), .record = i});
  for (const int64_t first : {0, 300}) cache.keep(first, examples, first + 300, first > 0);
  for (const int64_t first : {0, 300}) expect_equal(cache.find(first)->examples, examples);
}

// A limit of the size of files stands for a full disk.
TEST(ExampleCacheTest, WhatWasKeptBeforeTheDiskIsFullStays) {
  const std::vector<Example> small = odd_examples();
  const std::vector<Example> large(300, {.tokens = std::vector<int32_t>(10'007, 70'000)});
  rlimit old;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ExampleCache cache(testing::TempDir());
  cache.keep(0, small, 9, false);
  rlimit tight = old;
  tight.rlim_cur = 4 << 20;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  cache.keep(9, large, 309, false);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_FALSE(cache.find(9));
  cache.keep(309, small, 318, true);
  EXPECT_FALSE(cache.find(309));
  expect_equal(cache.find(0)->examples, small);
}

TEST(ExampleCacheTest, AFolderThatTakesNothingIsNoFault) {
  for (const char* folder : {"", "/nowhere/at/all", "/proc"}) {
    ExampleCache cache(folder);
    cache.keep(0, odd_examples(), 9, true);
    EXPECT_FALSE(cache.find(0)) << folder;
  }
}

}  // namespace
}  // namespace linnet
