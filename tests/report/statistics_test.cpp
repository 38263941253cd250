// statistics_test.cpp -- every figure against SciPy's (statistics_golden.py), and the verdicts by
// hand.
#include "report/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace linnet {
namespace {

constexpr double kEqual = 1e-12;
const std::vector<double> kA = {0.3635, 0.3710, 0.3590, 0.3725, 0.3660};
const std::vector<double> kB = {0.3540, 0.3655, 0.3610, 0.3580, 0.3525};
const std::vector<double> kC = {0.6551, 0.6602, 0.6498, 0.6575, 0.6633, 0.6540, 0.6587, 0.6561};
const std::vector<double> kD = {0.6449, 0.6530, 0.6502, 0.6480, 0.6521, 0.6477, 0.6533, 0.6490};

std::vector<double> differences(const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<double> d;
  for (size_t i = 0; i < x.size(); ++i) d.push_back(x[i] - y[i]);
  return d;
}

TEST(StatisticsTest, MeanAndDeviation) {
  EXPECT_NEAR(mean_of(kA), 0.3664, kEqual);
  EXPECT_NEAR(deviation_of(kA), 0.00551588614820865, kEqual);
  EXPECT_TRUE(std::isnan(mean_of({})));
  EXPECT_TRUE(std::isnan(deviation_of(std::vector<double>{1})));
}

TEST(StatisticsTest, BootstrapIsNearTheOneOfEveryDraw) {
  const Interval interval = bootstrap_interval(kA);
  EXPECT_NEAR(interval.low, 0.3622, 2e-4);
  EXPECT_NEAR(interval.high, 0.3706, 2e-4);
  const Interval again = bootstrap_interval(kA);
  EXPECT_EQ(interval.low, again.low);
  EXPECT_EQ(interval.high, again.high);
  const Interval same = bootstrap_interval(std::vector<double>{0.5, 0.5, 0.5});
  EXPECT_EQ(same.low, 0.5);
  EXPECT_EQ(same.high, 0.5);
  EXPECT_TRUE(std::isnan(bootstrap_interval(std::vector<double>{1}).low));
}

TEST(StatisticsTest, IncompleteBeta) {
  EXPECT_NEAR(incomplete_beta(2, 0.5, 0.3), 0.037840969485813114, kEqual);
  EXPECT_NEAR(incomplete_beta(0.5, 0.5, 0.9), 0.7951672353008662, kEqual);
  EXPECT_NEAR(incomplete_beta(10, 3, 0.7), 0.2528153478549999, kEqual);
  EXPECT_NEAR(incomplete_beta(50, 0.5, 0.999), 0.7523690199653768, kEqual);
  EXPECT_NEAR(incomplete_beta(0.5, 2, 1e-6), 0.0014999994999999999, kEqual);
  EXPECT_EQ(incomplete_beta(2, 3, 0), 0);
  EXPECT_EQ(incomplete_beta(2, 3, 1), 1);
}

TEST(StatisticsTest, Student) {
  EXPECT_NEAR(student_two_sided(0.1, 1), 0.9365489651388929, kEqual);
  EXPECT_NEAR(student_two_sided(-2.5, 4), 0.06676654481198813, kEqual);
  EXPECT_NEAR(student_two_sided(12, 4), 0.000276428548502973, kEqual);
  EXPECT_NEAR(student_two_sided(1.96, 1000), 0.05027318495574871, 1e-11);
  EXPECT_NEAR(student_two_sided(40, 9) / 1.8982998449339835e-11, 1, 1e-9);
  EXPECT_NEAR(student_quantile(0.05, 1), 12.706204736432095, 1e-9);
  EXPECT_NEAR(student_quantile(0.05, 4), 2.7764451051977987, 1e-9);
  EXPECT_NEAR(student_quantile(0.05, 9), 2.2621571627409915, 1e-9);
  EXPECT_NEAR(student_quantile(0.05, 100), 1.9839715184496334, 1e-9);
}

TEST(StatisticsTest, PairedTests) {
  const PairedTest five = paired_test(differences(kA, kB));
  EXPECT_NEAR(five.difference, 0.0082, kEqual);
  EXPECT_NEAR(five.interval.low, -0.00014782442894424944, kEqual);
  EXPECT_NEAR(five.interval.high, 0.016547824428944265, kEqual);
  EXPECT_NEAR(five.p_t, 0.052590298736574614, kEqual);
  EXPECT_NEAR(five.p_exact, 0.125, kEqual);
  EXPECT_EQ(five.smallest_exact, 0.0625);
  const PairedTest eight = paired_test(differences(kC, kD));
  EXPECT_NEAR(eight.difference, 0.0070625, kEqual);
  EXPECT_NEAR(eight.interval.low, 0.00403234631803245, kEqual);
  EXPECT_NEAR(eight.interval.high, 0.01009265368196752, kEqual);
  EXPECT_NEAR(eight.p_t, 0.0008957364699719943, kEqual);
  EXPECT_NEAR(eight.p_exact, 0.015625, kEqual);
}

TEST(StatisticsTest, DrawnSignsAgreeWithAllSigns) {
  // 24 differences are too many for all signs; a shift of 0.6 deviations is well below 0.05.
  std::vector<double> many;
  for (int i = 0; i < 24; ++i) many.push_back(std::sin(i * 1.7) + 0.4);
  const PairedTest test = paired_test(many);
  EXPECT_NEAR(test.p_exact, test.p_t, 0.01);
  EXPECT_GT(test.p_exact, 0);
}

TEST(StatisticsTest, DegenerateDifferences) {
  const PairedTest equal = paired_test(std::vector<double>{0, 0, 0, 0, 0, 0, 0});
  EXPECT_TRUE(std::isnan(equal.p_t));
  EXPECT_EQ(equal.p_exact, 1);
  EXPECT_EQ(verdict_of(equal, equal.p_t), Verdict::kNoDifference);
  // The same difference every time but for rounding: no deviation to judge by.
  const PairedTest constant = paired_test(differences({0.3, 0.5, 0.7}, {0.2, 0.4, 0.6}));
  EXPECT_TRUE(std::isnan(constant.p_t));
  EXPECT_EQ(verdict_of(constant, constant.p_t), Verdict::kTooFewSeeds);
  const PairedTest none = paired_test({});
  EXPECT_EQ(verdict_of(none, none.p_t), Verdict::kUntested);
  const PairedTest one = paired_test(std::vector<double>{0.3});
  EXPECT_EQ(verdict_of(one, one.p_t), Verdict::kTooFewSeeds);
}

TEST(StatisticsTest, Holm) {
  const std::vector<double> p = {0.01, 0.04, NAN, 0.03, 0.005, 0.9};
  const std::vector<double> corrected = holm(p);
  const std::vector<double> expected = {0.04, 0.09, NAN, 0.09, 0.025, 0.9};
  for (size_t i = 0; i < p.size(); ++i) {
    if (std::isnan(expected[i]))
      EXPECT_TRUE(std::isnan(corrected[i]));
    else
      EXPECT_NEAR(corrected[i], expected[i], kEqual) << i;
  }
  EXPECT_TRUE(holm({}).empty());
}

TEST(StatisticsTest, Verdicts) {
  const auto verdict = [](std::vector<double> d) {
    const PairedTest test = paired_test(d);
    return verdict_of(test, test.p_t);
  };
  EXPECT_EQ(verdict({0.20, 0.21, 0.19, 0.20, 0.21}), Verdict::kHigherIfNormal);
  EXPECT_EQ(verdict({-0.20, -0.21, -0.19}), Verdict::kLowerIfNormal);
  EXPECT_EQ(verdict({0.20, 0.21}), Verdict::kTooFewSeeds);
  EXPECT_EQ(verdict({0.20, -0.21, 0.05, 0.01, -0.02}), Verdict::kTooFewSeeds);
  EXPECT_EQ(verdict({0.20, -0.21, 0.05, 0.01, -0.02, 0.1}), Verdict::kNoDifference);
  EXPECT_EQ(verdict({0.20, 0.21, 0.19, 0.20, 0.21, 0.18}), Verdict::kHigher);
  EXPECT_EQ(verdict({-0.20, -0.21, -0.19, -0.20, -0.21, -0.18}), Verdict::kLower);
  // Corrected for many rows the same differences may not be enough.
  EXPECT_EQ(verdict_of(paired_test(differences(kC, kD)), 0.06), Verdict::kNoDifference);
}

}  // namespace
}  // namespace linnet
