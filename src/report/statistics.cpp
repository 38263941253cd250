// statistics.cpp -- the tests from their definitions; statistics_golden.py has SciPy's numbers.
#include "report/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/random.h"

namespace linnet {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr size_t kFewestForT = 3;  // two differences show nothing of their distribution
constexpr size_t kExactSigns = 18;
constexpr int kSignDraws = 200000;

// Between the two nearest of the sorted values, as NumPy has it.
double percentile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<size_t>(at);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

// The continued fraction of the incomplete beta function by Lentz's method (Numerical Recipes 6.4);
// converges fast for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  const auto away_from_zero = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), value = d;
  for (int m = 1; m <= 500; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double factor = 1;
    for (const double term : {even, odd}) {
      d = 1 / away_from_zero(1 + term * d);
      c = away_from_zero(1 + term / c);
      factor = c * d;
      value *= factor;
    }
    if (std::abs(factor - 1) < 1e-15) break;
  }
  return value;
}

}  // namespace

double mean_of(std::span<const double> values) {
  if (values.empty()) return kNan;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation_of(std::span<const double> values) {
  if (values.size() < 2) return kNan;
  const double mean = mean_of(values);
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

Interval bootstrap_interval(std::span<const double> values, int draws, uint64_t seed) {
  if (values.size() < 2) return {kNan, kNan};
  Random random(seed);
  std::vector<double> means(static_cast<size_t>(draws));
  for (double& mean : means) {
    double sum = 0;
    for (size_t i = 0; i < values.size(); ++i)
      sum += values[random.below(static_cast<uint32_t>(values.size()))];
    mean = sum / static_cast<double>(values.size());
  }
  std::sort(means.begin(), means.end());
  return {percentile(means, 0.025), percentile(means, 0.975)};
}

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double student_two_sided(double value, double freedom) {
  return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + value * value));
}

double student_quantile(double p, double freedom) {
  double low = 0, high = 1;
  while (student_two_sided(high, freedom) > p) high *= 2;
  // Bisection: a dozen calls a report need no speed. 100 halvings reach neighbouring doubles.
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (student_two_sided(middle, freedom) > p ? low : high) = middle;
  }
  return high;
}

double sign_flip_p(std::span<const double> differences) {
  const size_t n = differences.size();
  if (n == 0) return kNan;
  double size = 0, sum = 0;
  for (const double d : differences) {
    size += std::abs(d);
    sum += d;
  }
  // Sums that are equal but for rounding count as equal.
  const double limit = std::abs(sum) - 1e-12 * size;
  const auto reaches = [&](uint64_t signs) {
    double flipped = 0;
    for (size_t i = 0; i < n; ++i) flipped += signs >> i & 1 ? differences[i] : -differences[i];
    return std::abs(flipped) >= limit;
  };
  int64_t hits = 0;
  if (n <= kExactSigns) {
    for (uint64_t signs = 0; signs < uint64_t{1} << n; ++signs) hits += reaches(signs);
    return static_cast<double>(hits) / static_cast<double>(uint64_t{1} << n);
  }
  Random random(1);
  for (int i = 0; i < kSignDraws; ++i) {
    double flipped = 0;
    for (const double d : differences) flipped += random.bits() & 1 ? d : -d;
    hits += std::abs(flipped) >= limit;
  }
  // The observed signs are one of the draws, so that p is never 0.
  return static_cast<double>(hits + 1) / (kSignDraws + 1);
}

PairedTest paired_test(std::span<const double> differences) {
  const size_t n = differences.size();
  PairedTest test{n, mean_of(differences), {kNan, kNan}, kNan, kNan, 1};
  if (n == 0) return test;
  test.p_exact = sign_flip_p(differences);
  test.smallest_exact = n <= kExactSigns ? std::ldexp(2, -static_cast<int>(n)) : 1. / kSignDraws;
  const double deviation = deviation_of(differences);
  // Differences that are equal but for rounding would give a t of 1e15.
  if (n < 2 || !(deviation > 1e-9 * std::abs(test.difference))) return test;
  const double error = deviation / std::sqrt(static_cast<double>(n));
  const auto freedom = static_cast<double>(n - 1);
  const double reach = student_quantile(kSignificance, freedom) * error;
  test.interval = {test.difference - reach, test.difference + reach};
  test.p_t = student_two_sided(test.difference / error, freedom);
  return test;
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<size_t> order;
  for (size_t i = 0; i < p.size(); ++i) {
    if (!std::isnan(p[i])) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p[a] < p[b]; });
  std::vector<double> corrected(p.size(), kNan);
  double largest = 0;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    largest = std::max(largest, p[order[rank]] * static_cast<double>(order.size() - rank));
    corrected[order[rank]] = std::min(largest, 1.0);
  }
  return corrected;
}

Verdict verdict_of(const PairedTest& test, double p_holm) {
  if (test.n == 0) return Verdict::kUntested;
  const bool can_be_exact = test.smallest_exact <= kSignificance;
  const bool differs =
      p_holm < kSignificance && (!can_be_exact || test.p_exact < kSignificance);  // NaN: no
  if (test.n < kFewestForT) return Verdict::kTooFewSeeds;
  if (!differs) return can_be_exact ? Verdict::kNoDifference : Verdict::kTooFewSeeds;
  if (can_be_exact) return test.difference > 0 ? Verdict::kHigher : Verdict::kLower;
  return test.difference > 0 ? Verdict::kHigherIfNormal : Verdict::kLowerIfNormal;
}

const char* verdict_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::kUntested:
      return "no common seeds";
    case Verdict::kTooFewSeeds:
      return "too few seeds to tell";
    case Verdict::kNoDifference:
      return "no difference shown";
    case Verdict::kHigher:
      return "higher";
    case Verdict::kLower:
      return "lower";
    case Verdict::kHigherIfNormal:
      return "higher, if normal";
    case Verdict::kLowerIfNormal:
      return "lower, if normal";
  }
  return "";
}

}  // namespace linnet
