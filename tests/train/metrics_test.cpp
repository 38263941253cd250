// metrics_test.cpp -- every figure against numbers of another program (metrics_golden.py), and by
// hand.
#include "train/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace linnet {
namespace {

constexpr double kEqual = 1e-12;

// The same rows as in metrics_golden.py: a congruence that both can compute.
class GoldenRows {
 public:
  static constexpr int kRows = 200, kClasses = 4, kLabels = 5;

  GoldenRows() {
    for (int row = 0; row < kRows; ++row) labels.push_back(static_cast<int32_t>(draw(kClasses)));
    for (int row = 0; row < kRows; ++row) {
      for (int k = 0; k < kClasses; ++k) {
        const uint32_t base = 1 + draw(16);
        const bool raised = draw(2) != 0 && k == labels[static_cast<size_t>(row)];
        probabilities.push_back(static_cast<float>(base + (raised ? 24 : 0)) / 64);
      }
    }
    for (int row = 0; row < kRows; ++row) {
      for (int k = 0; k < kLabels; ++k) actual.push_back(k + 1 < kLabels && draw(3) == 0);
    }
    for (int row = 0; row < kRows; ++row) {
      for (int k = 0; k < kLabels; ++k) {
        const bool there = actual[static_cast<size_t>(row * kLabels + k)];
        predicted.push_back(k + 1 < kLabels && (draw(4) == 0 || (there && draw(2) == 0)));
      }
    }
  }

  std::vector<int32_t> labels;
  std::vector<float> probabilities;
  std::vector<uint8_t> actual, predicted;

 private:
  uint32_t draw(uint32_t n) {
    state_ = state_ * 1664525 + 1013904223;
    return (state_ >> 16) % n;
  }
  uint32_t state_ = 0;
};

TEST(MetricsTest, GoldenNumbersOfClasses) {
  const GoldenRows rows;
  ConfusionMatrix matrix(GoldenRows::kClasses);
  for (size_t row = 0; row < rows.labels.size(); ++row) {
    const auto begin = rows.probabilities.begin() + static_cast<long>(row) * GoldenRows::kClasses;
    const auto best = std::max_element(begin, begin + GoldenRows::kClasses);
    matrix.add(rows.labels[row], static_cast<int>(best - begin));
  }
  EXPECT_NEAR(matrix.accuracy(), 0.64, kEqual);
  EXPECT_NEAR(matrix.macro_f1(), 0.6368028533737734, kEqual);
  EXPECT_NEAR(roc_auc_one_vs_rest(rows.probabilities, rows.labels, GoldenRows::kClasses),
              0.7721698831712805, kEqual);
  EXPECT_NEAR(calibration_error(rows.probabilities, rows.labels, GoldenRows::kClasses), 0.281875,
              kEqual);
  std::vector<float> scores;
  std::vector<uint8_t> positive;
  for (size_t row = 0; row < rows.labels.size(); ++row) {
    scores.push_back(rows.probabilities[row * GoldenRows::kClasses + 1]);
    positive.push_back(rows.labels[row] == 1);
  }
  EXPECT_NEAR(roc_auc(scores, positive), 0.7822510822510822, kEqual);
}

TEST(MetricsTest, GoldenNumbersOfLabels) {
  const GoldenRows rows;
  const MultiLabelF1 f1 = multi_label_f1(rows.actual, rows.predicted, GoldenRows::kLabels);
  EXPECT_NEAR(f1.micro, 0.5939597315436242, kEqual);
  EXPECT_NEAR(f1.macro, 0.5899547683092627, kEqual);
}

TEST(MetricsTest, LanguageModels) {
  EXPECT_NEAR(bits_per_byte(1234.5, 800), 2.226258784971782, kEqual);
  EXPECT_NEAR(perplexity(1234.5, 300), 61.25221426275198, 1e-10);
  // A model that knows nothing about bytes: 8 bits each.
  EXPECT_NEAR(bits_per_byte(10 * std::log(256.0), 10), 8, kEqual);
  EXPECT_NEAR(perplexity(10 * std::log(256.0), 10), 256, 1e-9);
  EXPECT_TRUE(std::isnan(bits_per_byte(0, 0)));
  EXPECT_TRUE(std::isnan(perplexity(0, 0)));
}

TEST(MetricsTest, ConfusionByHand) {
  ConfusionMatrix matrix(4);  // class 3 is neither there nor predicted
  const int rows[][2] = {{0, 0}, {0, 0}, {0, 1}, {1, 1}, {1, 2}, {2, 1}};
  for (const auto& [actual, predicted] : rows) matrix.add(actual, predicted);
  EXPECT_EQ(matrix.count(0, 1), 1);
  EXPECT_EQ(matrix.actual(0), 3);
  EXPECT_EQ(matrix.predicted(1), 3);
  EXPECT_NEAR(matrix.accuracy(), 0.5, kEqual);
  EXPECT_NEAR(matrix.f1(0), 0.8, kEqual);  // precision 1, recall 2/3
  EXPECT_NEAR(matrix.f1(1), 0.4, kEqual);  // precision 1/3, recall 1/2
  EXPECT_NEAR(matrix.f1(2), 0, kEqual);
  EXPECT_TRUE(std::isnan(matrix.f1(3)));
  EXPECT_NEAR(matrix.macro_f1(), 0.4, kEqual);
  EXPECT_TRUE(std::isnan(ConfusionMatrix(2).accuracy()));
  EXPECT_TRUE(std::isnan(ConfusionMatrix(2).macro_f1()));
}

TEST(MetricsTest, RocAucByHand) {
  const std::vector<uint8_t> positive = {0, 0, 1, 1};
  EXPECT_EQ(roc_auc(std::vector<float>{1, 2, 3, 4}, positive), 1);
  EXPECT_EQ(roc_auc(std::vector<float>{4, 3, 2, 1}, positive), 0);
  EXPECT_EQ(roc_auc(std::vector<float>{5, 5, 5, 5}, positive), 0.5);
  EXPECT_EQ(roc_auc(std::vector<float>{1, 3, 2, 3}, positive), 0.625);  // 1, 1, 0, 1/2 of 4 pairs
  EXPECT_EQ(roc_auc(std::vector<float>{-INFINITY, 0, 0, INFINITY}, positive), 0.875);
  EXPECT_TRUE(std::isnan(roc_auc(std::vector<float>{1, 2}, std::vector<uint8_t>{1, 1})));
  EXPECT_TRUE(std::isnan(roc_auc(std::vector<float>{1, NAN, 2, 3}, positive)));
  EXPECT_TRUE(std::isnan(roc_auc({}, {})));
}

TEST(MetricsTest, CalibrationByHand) {
  // One right of two: in one bin |1/2 - 0.78|, in ten bins each row for itself.
  const std::vector<float> p = {0.75f, 0.25f, 0.19f, 0.81f};
  const std::vector<int32_t> labels = {0, 0};
  EXPECT_NEAR(calibration_error(p, labels, 2, 1), std::abs(0.5 - 0.78), 1e-7);
  EXPECT_NEAR(calibration_error(p, labels, 2, 10), 0.5 * (1 - 0.75) + 0.5 * 0.81, 1e-7);
  // Sure and right costs nothing, sure and wrong everything.
  EXPECT_EQ(calibration_error(std::vector<float>{1, 0}, std::vector<int32_t>{0}, 2), 0);
  EXPECT_EQ(calibration_error(std::vector<float>{1, 0}, std::vector<int32_t>{1}, 2), 1);
  EXPECT_TRUE(std::isnan(calibration_error({}, {}, 2)));
}

}  // namespace
}  // namespace linnet
