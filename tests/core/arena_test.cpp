// arena_test.cpp -- blocks are aligned and zeroed; an arena takes back by scope.
#include "core/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/view.h"

namespace linnet {
namespace {

bool aligned(const float* p) { return reinterpret_cast<uintptr_t>(p) % 64 == 0; }

TEST(LeadingDim, IsAnOddNumberOfCacheLines) {
  for (int64_t cols = 0; cols < 2000; ++cols) {
    const int64_t ld = leading_dim(cols);
    ASSERT_GE(ld, cols);
    ASSERT_EQ(ld % kAlignFloats, 0);
    ASSERT_EQ(ld / kAlignFloats % 2, 1);
    ASSERT_LT(ld - cols, 2 * kAlignFloats + (cols == 0));
  }
  EXPECT_EQ(round_up(0, 16), 0);
  EXPECT_EQ(round_up(1, 16), 16);
  EXPECT_EQ(round_up(16, 16), 16);
}

TEST(Views, PartsShareTheData) {
  std::vector<float> data(100);
  const Mat m{data.data(), 10};
  EXPECT_EQ(m.rows(3).columns(4).data, data.data() + 34);
  EXPECT_EQ(m.columns(4).row(2), data.data() + 24);
  const ConstMat c = m;
  EXPECT_EQ(c.rows(3).columns(4).row(1), data.data() + 44);
  EXPECT_EQ(c.rows(3).ld, 10);
}

TEST(Block, IsAlignedZeroedAndMovable) {
  EXPECT_EQ(Block().data(), nullptr);
  EXPECT_EQ(Block(0).size(), 0);
  // The last is beyond the size from which huge pages are asked for.
  for (const int64_t size : {1, 17, 4096, 100001, 3 << 20}) {
    Block block(size);
    ASSERT_EQ(block.size(), size);
    ASSERT_TRUE(aligned(block.data()));
    ASSERT_TRUE(std::all_of(block.data(), block.data() + size, [](float x) { return x == 0; }));
    block.data()[0] = 5;
    block.data()[size - 1] = 7;
    const float* place = block.data();
    Block moved = std::move(block);
    EXPECT_EQ(moved.data(), place);
    EXPECT_EQ(moved.data()[size - 1], 7);
    moved.zero();
    EXPECT_EQ(moved.data()[0], 0);
    EXPECT_EQ(moved.data()[size - 1], 0);
  }
}

TEST(Arena, PiecesAreAlignedAndApart) {
  Arena arena;
  std::vector<std::pair<float*, int64_t>> pieces;
  for (int64_t size = 0; size < 300; ++size) pieces.push_back({arena.take(size), size});
  for (size_t i = 0; i < pieces.size(); ++i) {
    ASSERT_TRUE(aligned(pieces[i].first));
    std::fill_n(pieces[i].first, pieces[i].second, static_cast<float>(i));
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    const auto [data, size] = pieces[i];
    ASSERT_EQ(std::count(data, data + size, static_cast<float>(i)), size);
  }
}

TEST(Arena, AScopeGivesBackWhatWasTakenInIt) {
  Arena arena;
  float* before = arena.take(100);
  before[99] = 3;
  float* inside = nullptr;
  {
    Arena::Scope scope(arena);
    inside = arena.take(50);
    {
      Arena::Scope inner(arena);
      EXPECT_GE(arena.take(10), inside + 50);
    }
    EXPECT_EQ(arena.take(10), inside + 64);
  }
  EXPECT_EQ(arena.take(50), inside);
  EXPECT_EQ(before[99], 3);
}

TEST(Arena, GrowthKeepsOldPiecesWhereTheyAre) {
  Arena arena;
  std::vector<float*> pieces;
  constexpr int64_t kSize = 100000;
  for (int i = 0; i < 40; ++i) {
    pieces.push_back(arena.take(kSize));
    std::fill_n(pieces.back(), kSize, static_cast<float>(i));
  }
  // Far larger than any block so far.
  float* large = arena.take(4 << 20);
  std::fill_n(large, 4 << 20, -1.0f);
  for (int i = 0; i < 40; ++i) {
    const float* piece = pieces[static_cast<size_t>(i)];
    ASSERT_EQ(std::count(piece, piece + kSize, static_cast<float>(i)), kSize) << i;
  }
}

TEST(Arena, TheSecondSequenceTakesTheSamePlaces) {
  Arena arena;
  std::vector<float*> first, second;
  for (std::vector<float*>* places : {&first, &second}) {
    Arena::Scope scope(arena);
    for (const int64_t size : {1000, 300000, 5, 700000, 100, 200000, 0, 1}) {
      places->push_back(arena.take(size));
    }
  }
  EXPECT_EQ(first, second);
}

TEST(Arena, ZeroedPiecesAreZeroEvenWhenUsedBefore) {
  Arena arena;
  for (int round = 0; round < 2; ++round) {
    Arena::Scope scope(arena);
    float* piece = arena.take_zeroed(1000);
    ASSERT_TRUE(std::all_of(piece, piece + 1000, [](float x) { return x == 0; }));
    std::fill_n(piece, 1000, 1.0f);
  }
}

}  // namespace
}  // namespace linnet
