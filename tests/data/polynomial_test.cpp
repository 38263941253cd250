// polynomial_test.cpp -- the task has its degree: nothing of a lower degree tells the label's form.
#include "data/polynomial.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/error.h"

namespace linnet {
namespace {

// The marked values of a row, by mark.
std::vector<double> marked(const PolynomialRule& rule, const PolynomialExample& row) {
  std::vector<double> x(static_cast<size_t>(rule.marks), NAN);
  for (const int32_t token : row.tokens) {
    if (token < rule.levels) continue;
    x[static_cast<size_t>(token / rule.levels - 1)] = token % rule.levels - (rule.levels - 1) / 2.0;
  }
  return x;
}

TEST(PolynomialTest, EveryRowHasEveryMarkOnce) {
  const PolynomialRule rule{.degree = 3, .marks = 5, .levels = 4, .length = 20};
  for (const PolynomialExample& row : make_polynomial(rule, 1, 200)) {
    ASSERT_EQ(row.tokens.size(), 20u);
    std::map<int, int> marks;
    for (const int32_t token : row.tokens) {
      ASSERT_GE(token, 0);
      ASSERT_LT(token, polynomial_vocabulary(rule));
      ++marks[token / rule.levels];
    }
    EXPECT_EQ(marks[0], 15);
    for (int m = 1; m <= 5; ++m) EXPECT_EQ(marks[m], 1);
  }
}

// The sign of a form of degree 2 has no linear part, that of degree 3 no quadratic one (x to -x),
// and next to no linear one.
TEST(PolynomialTest, LowerDegreesKnowNothing) {
  constexpr int64_t kRows = 20000;
  for (const int degree : {2, 3}) {
    const PolynomialRule rule{.degree = degree};
    const std::vector<PolynomialExample> rows = make_polynomial(rule, 5, kRows);
    double positive = 0;
    std::vector<double> linear(4), square(16);
    for (const PolynomialExample& row : rows) {
      const std::vector<double> x = marked(rule, row);
      const double sign = row.label ? 1 : -1;
      positive += row.label;
      for (size_t a = 0; a < 4; ++a) {
        linear[a] += sign * x[a] / kRows;
        for (size_t b = 0; b < 4; ++b) square[a * 4 + b] += sign * x[a] * x[b] / kRows;
      }
    }
    EXPECT_NEAR(positive / kRows, 0.5, 0.1) << degree;
    // Values have a deviation of 2.3, so chance alone gives 2.3 / sqrt(20000) = 0.016.
    for (const double c : linear) EXPECT_NEAR(c, 0, degree == 2 ? 0.07 : 0.5) << degree;
    double largest = 0;
    for (size_t i = 0; i < 16; ++i) {
      if (i % 5 != 0) largest = std::max(largest, std::abs(square[i]));
    }
    if (degree == 2) {
      EXPECT_GT(largest, 0.5);
    } else {
      EXPECT_LT(largest, 0.2);
    }
  }
}

TEST(PolynomialTest, TheSameSeedTheSameRows) {
  const PolynomialRule rule;
  const auto few = make_polynomial(rule, 3, 10), many = make_polynomial(rule, 3, 20);
  for (size_t i = 0; i < few.size(); ++i) {
    EXPECT_EQ(few[i].tokens, many[i].tokens);
    EXPECT_EQ(few[i].label, many[i].label);
  }
  EXPECT_NE(make_polynomial(rule, 4, 1)[0].tokens, few[0].tokens);
}

TEST(PolynomialTest, ImpossibleRulesAreNamed) {
  for (const PolynomialRule& rule :
       {PolynomialRule{.degree = 0}, PolynomialRule{.degree = 5}, PolynomialRule{.marks = 0},
        PolynomialRule{.levels = 3}, PolynomialRule{.length = 2}}) {
    EXPECT_THROW(make_polynomial(rule, 1, 1), Error);
  }
}

}  // namespace
}  // namespace linnet
