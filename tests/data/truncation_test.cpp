// truncation_test.cpp -- cuts keep the right ends, windows cover everything.
#include "data/truncation.h"

#include <gtest/gtest.h>

#include <numeric>

#include "core/error.h"

namespace linnet {
namespace {

std::vector<int32_t> cut(int64_t tokens, int64_t length, const char* how) {
  std::vector<int32_t> ids(static_cast<size_t>(tokens));
  std::iota(ids.begin(), ids.end(), 0);
  truncate(ids, length, parse_truncation(how));
  return ids;
}

TEST(TruncationTest, Ends) {
  using Ids = std::vector<int32_t>;
  EXPECT_EQ(cut(10, 4, "head"), (Ids{0, 1, 2, 3}));
  EXPECT_EQ(cut(10, 4, "tail"), (Ids{6, 7, 8, 9}));
  EXPECT_EQ(cut(10, 4, "head+tail"), (Ids{0, 7, 8, 9}));
  EXPECT_EQ(cut(10, 8, "head+tail"), (Ids{0, 1, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(cut(10, 1, "head+tail"), (Ids{9}));
  for (const char* how : {"head", "tail", "head+tail"}) {
    EXPECT_EQ(cut(4, 4, how), (Ids{0, 1, 2, 3}));
    EXPECT_EQ(cut(3, 4, how), (Ids{0, 1, 2}));
    EXPECT_EQ(cut(0, 4, how), Ids{});
  }
  EXPECT_THROW(parse_truncation("middle"), Error);
}

TEST(TruncationTest, WindowsCoverEveryToken) {
  using Windows = std::vector<TokenRange>;
  EXPECT_EQ(sliding_windows(10, 4, 3), (Windows{{0, 4}, {3, 7}, {6, 10}}));
  EXPECT_EQ(sliding_windows(11, 4, 3), (Windows{{0, 4}, {3, 7}, {6, 10}, {7, 11}}));
  EXPECT_EQ(sliding_windows(4, 4, 1), (Windows{{0, 4}}));
  EXPECT_EQ(sliding_windows(2, 4, 1), (Windows{{0, 2}}));
  EXPECT_EQ(sliding_windows(0, 4, 2), (Windows{{0, 0}}));
  for (int64_t tokens = 0; tokens < 40; ++tokens) {
    for (int64_t length = 1; length < 12; ++length) {
      for (int64_t stride = 1; stride <= length; ++stride) {
        const Windows windows = sliding_windows(tokens, length, stride);
        int64_t covered = 0, last = -1;
        for (const TokenRange& window : windows) {
          ASSERT_EQ(window.end - window.begin, std::min(tokens, length));
          ASSERT_LE(window.begin, covered);
          ASSERT_GT(window.begin, last);
          last = window.begin;
          covered = window.end;
        }
        ASSERT_EQ(covered, tokens);
      }
    }
  }
}

}  // namespace
}  // namespace linnet
