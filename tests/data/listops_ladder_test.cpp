// listops_ladder_test.cpp -- rungs of trees that can be told by hand, and of LRA's own.
#include "data/listops_ladder.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"

namespace linnet {
namespace {

std::vector<ListopsExample> trees_of(std::initializer_list<const char*> texts) {
  std::vector<ListopsExample> trees;
  for (const char* text : texts) {
    ListopsExample tree{parse_listops(text), 0};
    tree.label = evaluate_listops(tree.tokens);
    trees.push_back(std::move(tree));
  }
  return trees;
}

TEST(ListopsLadderTest, FlatTreesAreKnownByTheirDigits) {
  Context context(1);
  const auto rungs = listops_ladder(
      context, trees_of({"[MIN 4 2 ]", "[MIN 3 2 ]", "[MAX 1 8 ]", "[MAX 1 7 ]", "5"}), 1);
  ASSERT_EQ(rungs.size(), 6u);
  EXPECT_DOUBLE_EQ(rungs[0].accuracy, 0.4);  // 2 stands twice
  EXPECT_DOUBLE_EQ(rungs[1].accuracy, 0.8);  // MIN is 2, MAX 7 or 8, the digit itself
  EXPECT_NEAR(rungs[1].loss, 2 * std::log(2) / 5, 1e-9);
  for (size_t i = 2; i < rungs.size(); ++i) EXPECT_DOUBLE_EQ(rungs[i].accuracy, 1) << i;
}

TEST(ListopsLadderTest, OperatorsBelowTheRootCount) {
  Context context(1);
  // A MIN below is 1 three times, a MAX 9: the sum is told by the operator, not by its being there.
  const auto rungs = listops_ladder(context,
                                    trees_of({"[SM 3 [MIN 1 5 ] ]", "[SM 4 [MIN 6 1 ] ]",
                                              "[SM 5 [MIN 7 1 ] ]", "[SM 3 [MAX 9 2 ] ]"}),
                                    1);
  EXPECT_DOUBLE_EQ(rungs[2].accuracy, 0.75);
  EXPECT_DOUBLE_EQ(rungs[3].accuracy, 1);
  EXPECT_NEAR(rungs[2].loss, -(3 * std::log(0.75) + std::log(0.25)) / 4, 0.05);
  EXPECT_NEAR(rungs[3].loss, 0, 0.01);
}

// What other code found on trees of its own: within three standard errors of 3,000 trees.
TEST(ListopsLadderTest, TreesOfLra) {
  Context one(1), two(2);
  const std::vector<ListopsExample> trees = make_listops({}, 5, 3000);
  const auto rungs = listops_ladder(one, trees, 1), again = listops_ladder(two, trees, 1);
  const double expected[] = {17.0, 36.4, 49.6, 58.6, 69.5, 81.4};
  for (size_t i = 0; i < rungs.size(); ++i) {
    EXPECT_NEAR(100 * rungs[i].accuracy, expected[i], 2.8) << rungs[i].knows;
    EXPECT_EQ(rungs[i].accuracy, again[i].accuracy);
    EXPECT_EQ(rungs[i].loss, again[i].loss);
    EXPECT_TRUE(i == 0 || rungs[i].loss < rungs[i - 1].loss) << rungs[i].knows;
  }
  EXPECT_THROW(listops_ladder(one, {}, 1), Error);
}

}  // namespace
}  // namespace linnet
