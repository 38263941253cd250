// statistics.h -- what a few seeds tell: mean, deviation, intervals, paired tests, Holm.
//
// Which test, and why. Rows are compared seed by seed, so the sample is the n differences. With the
// three to ten seeds that people can pay for there are two honest tests:
//
//   - The paired t test has power already at n = 3 and is the usual choice for few seeds (Colas et
//     al. 2018 come to t tests and warn of the bootstrap there). It takes the differences to be
//     about normal, which a run that fails to train breaks.
//   - The sign-flip permutation test (Fisher 1935) takes nothing but that a difference is as likely
//     to be +d as -d when the rows are equal, and is exact. But its smallest two-sided p is
//     2 / 2^n: below 6 seeds it cannot get below 0.05, whatever the figures are. Wilcoxon's
//     signed-rank test has the same limit and drops the sizes.
//
// So the t test, corrected by Holm over the rows of a task, decides; from 6 seeds on the exact test
// must agree; below 6 a difference is marked as resting on normality, which needs 3 seeds at least,
// and no difference is called "too few seeds to tell", not "equal". Bootstrap tests are left out:
// at these n they find too much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace linnet {

inline constexpr double kSignificance = 0.05;

// All are NaN when there are too few values.
double mean_of(std::span<const double> values);
// Divides by n - 1.
double deviation_of(std::span<const double> values);

struct Interval {
  double low, high;
};
// 95% percentile bootstrap of the mean: the same draws every time. It is too narrow for few
// values: by simulation it holds the mean of a normal in 73% of cases at 3, 83% at 5, 89% at 10.
Interval bootstrap_interval(std::span<const double> values, int draws = 10000, uint64_t seed = 1);

// I_x(a, b), the regularised incomplete beta function, 0 <= x <= 1.
double incomplete_beta(double a, double b, double x);
// P(|t| >= |value|) of Student's distribution.
double student_two_sided(double value, double freedom);
// The value with student_two_sided = p.
double student_quantile(double p, double freedom);

struct PairedTest {
  size_t n = 0;
  double difference;      // mean
  Interval interval;      // 95%, by Student's distribution
  double p_t, p_exact;    // two-sided
  double smallest_exact;  // the least that p_exact can be at this n
};
// Of the differences of one row to another, seed by seed. p_t is NaN when they do not differ from
// each other: there is no deviation to judge by.
PairedTest paired_test(std::span<const double> differences);

// Sign-flip permutation test of mean = 0: all 2^n signs up to n = 18, else 200,000 seeded draws.
double sign_flip_p(std::span<const double> differences);

// Holm's step-down correction; NaN is no test and stays NaN.
std::vector<double> holm(std::span<const double> p);

enum class Verdict {
  kUntested,
  kTooFewSeeds,
  kNoDifference,
  kHigher,
  kLower,
  kHigherIfNormal,
  kLowerIfNormal
};
// By the rule above, p_holm being p_t after correction.
Verdict verdict_of(const PairedTest& test, double p_holm);
const char* verdict_text(Verdict verdict);

}  // namespace linnet
