// polynomial.h -- a task of a known polynomial degree: what can a layer multiply?
//
// A sequence has `marks` marked tokens with values x_1 .. x_m, drawn from `levels` levels around
// zero, among unmarked ones that mean nothing. The label is the sign of a form of degree d in the
// marked values, a sum of c x_a x_b ... x_z over all sets of d marks with normal coefficients. Each
// value has mean zero and the marks are independent, so no polynomial of a lower degree has any
// correlation with the form. (The sign of a form of degree 3 has a little with linear ones.)
// Idea: Narybaev, "Why Transformers are good?", which sees attention as polynomial features.
#pragma once

#include <cstdint>
#include <vector>

namespace linnet {

struct PolynomialRule {
  int degree = 2;  // 1 to marks
  int marks = 4;
  int levels = 8;
  int length = 32;  // tokens, at least marks
};

int polynomial_vocabulary(const PolynomialRule& rule);

struct PolynomialExample {
  std::vector<int32_t> tokens;
  int label;  // 1 where the form is positive
};

// The coefficients come from the seed, so train and test are one call, cut. The same arguments give
// the same rows always, and fewer rows are the beginning of more rows. An impossible rule is an
// Error.
std::vector<PolynomialExample> make_polynomial(const PolynomialRule& rule, uint64_t seed,
                                               int64_t rows);

}  // namespace linnet
