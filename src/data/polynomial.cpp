// polynomial.cpp -- draws marked tokens and the sign of their form.
//
// Token ids: level for an unmarked token, levels * (1 + m) + level for mark m.
#include "data/polynomial.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/error.h"
#include "core/random.h"

namespace linnet {
namespace {

void check(const PolynomialRule& rule) {
  if (rule.marks < 1 || rule.marks > 16)
    throw Error(fmt::format("[polynomial.marks] must be 1 to 16, not {}", rule.marks));
  if (rule.degree < 1 || rule.degree > rule.marks) {
    throw Error(fmt::format("[polynomial.degree] must be 1 to the number of marks, {}, not {}",
                            rule.marks, rule.degree));
  }
  if (rule.levels < 2 || rule.levels > 256 || rule.levels % 2 != 0)
    throw Error(fmt::format("[polynomial.levels] must be even, 2 to 256, not {}", rule.levels));
  if (rule.length < rule.marks || rule.length > 1 << 20) {
    throw Error(fmt::format("[polynomial.length] must be {} to {}, not {}", rule.marks, 1 << 20,
                            rule.length));
  }
}

// A set of marks as bits, and its coefficient.
struct Term {
  uint32_t marks;
  double coefficient;
};

std::vector<Term> draw_form(const PolynomialRule& rule, uint64_t seed) {
  std::vector<Term> form;
  Random random(seed, 0);
  for (uint32_t set = 1; set < uint32_t{1} << rule.marks; ++set) {
    if (std::popcount(set) == rule.degree) form.push_back({set, random.normal()});
  }
  return form;
}

double value_of(const std::vector<Term>& form, const std::vector<double>& x) {
  double sum = 0;
  for (const Term& term : form) {
    double product = term.coefficient;
    for (size_t m = 0; m < x.size(); ++m) {
      if (term.marks >> m & 1) product *= x[m];
    }
    sum += product;
  }
  return sum;
}

}  // namespace

int polynomial_vocabulary(const PolynomialRule& rule) { return rule.levels * (1 + rule.marks); }

std::vector<PolynomialExample> make_polynomial(const PolynomialRule& rule, uint64_t seed,
                                               int64_t rows) {
  check(rule);
  const std::vector<Term> form = draw_form(rule, seed);
  const auto levels = static_cast<uint32_t>(rule.levels);
  std::vector<PolynomialExample> examples;
  std::vector<double> x(static_cast<size_t>(rule.marks));
  for (int64_t row = 0; row < rows; ++row) {
    Random random(seed, static_cast<uint64_t>(row) + 1);
    PolynomialExample& example = examples.emplace_back();
    for (int t = 0; t < rule.length; ++t) {
      const auto level = static_cast<int32_t>(random.below(levels));
      example.tokens.push_back(level + (t < rule.marks ? rule.levels * (1 + t) : 0));
      if (t < rule.marks) x[static_cast<size_t>(t)] = level - (rule.levels - 1) / 2.0;
    }
    for (size_t i = example.tokens.size(); i > 1; --i)
      std::swap(example.tokens[i - 1], example.tokens[random.below(static_cast<uint32_t>(i))]);
    example.label = value_of(form, x) > 0 ? 1 : 0;
  }
  return examples;
}

}  // namespace linnet
