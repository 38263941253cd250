// metrics.cpp -- figures of predictions by their definitions.
#include "train/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.h"

namespace linnet {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double share(double part, double whole) { return whole > 0 ? part / whole : kNone; }

// Mean of the values that are numbers.
class MeanOfKnown {
 public:
  void add(double value) {
    if (std::isnan(value)) return;
    sum_ += value;
    ++count_;
  }
  double mean() const { return share(sum_, count_); }

 private:
  double sum_ = 0;
  int count_ = 0;
};

double f1_of(int64_t hits, int64_t actual, int64_t predicted) {
  return share(2.0 * static_cast<double>(hits), static_cast<double>(actual + predicted));
}

}  // namespace

ConfusionMatrix::ConfusionMatrix(int classes)
    : classes_(classes), counts_(static_cast<size_t>(classes) * static_cast<size_t>(classes)) {
  LINNET_ASSERT(classes >= 1);
}

void ConfusionMatrix::add(int actual, int predicted) {
  LINNET_ASSERT(actual >= 0 && actual < classes_ && predicted >= 0 && predicted < classes_);
  ++counts_[static_cast<size_t>(actual * classes_ + predicted)];
}

int64_t ConfusionMatrix::count(int actual, int predicted) const {
  return counts_[static_cast<size_t>(actual * classes_ + predicted)];
}

int64_t ConfusionMatrix::actual(int cls) const {
  int64_t sum = 0;
  for (int other = 0; other < classes_; ++other) sum += count(cls, other);
  return sum;
}

int64_t ConfusionMatrix::predicted(int cls) const {
  int64_t sum = 0;
  for (int other = 0; other < classes_; ++other) sum += count(other, cls);
  return sum;
}

double ConfusionMatrix::accuracy() const {
  int64_t hits = 0;
  for (int cls = 0; cls < classes_; ++cls) hits += count(cls, cls);
  const int64_t rows = std::accumulate(counts_.begin(), counts_.end(), int64_t{0});
  return share(static_cast<double>(hits), static_cast<double>(rows));
}

double ConfusionMatrix::f1(int cls) const {
  return f1_of(count(cls, cls), actual(cls), predicted(cls));
}

double ConfusionMatrix::macro_f1() const {
  MeanOfKnown mean;
  for (int cls = 0; cls < classes_; ++cls) mean.add(f1(cls));
  return mean.mean();
}

double roc_auc(std::span<const float> scores, std::span<const uint8_t> positive) {
  LINNET_ASSERT(scores.size() == positive.size());
  if (std::ranges::any_of(scores, [](float score) { return std::isnan(score); })) return kNone;
  std::vector<uint32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, {}, [&](uint32_t i) { return scores[i]; });
  // Over groups of equal scores: positives beat the negatives before, and half of those beside.
  double wins = 0, negatives = 0, positives = 0;
  for (size_t begin = 0, end; begin < order.size(); begin = end) {
    double group_positives = 0;
    for (end = begin; end < order.size() && scores[order[end]] == scores[order[begin]]; ++end)
      group_positives += positive[order[end]] != 0;
    const double group_negatives = static_cast<double>(end - begin) - group_positives;
    wins += group_positives * (negatives + group_negatives / 2);
    negatives += group_negatives;
    positives += group_positives;
  }
  return share(wins, positives * negatives);
}

double roc_auc_one_vs_rest(std::span<const float> probabilities, std::span<const int32_t> labels,
                           int classes) {
  const size_t rows = labels.size(), columns = static_cast<size_t>(classes);
  LINNET_ASSERT(probabilities.size() == rows * columns);
  MeanOfKnown mean;
  std::vector<float> scores(rows);
  std::vector<uint8_t> positive(rows);
  for (size_t cls = 0; cls < columns; ++cls) {
    for (size_t row = 0; row < rows; ++row) {
      scores[row] = probabilities[row * columns + cls];
      positive[row] = labels[row] == static_cast<int32_t>(cls);
    }
    mean.add(roc_auc(scores, positive));
  }
  return mean.mean();
}

double calibration_error(std::span<const float> probabilities, std::span<const int32_t> labels,
                         int classes, int bins) {
  const size_t rows = labels.size(), columns = static_cast<size_t>(classes);
  LINNET_ASSERT(probabilities.size() == rows * columns && bins >= 1);
  std::vector<double> surplus(static_cast<size_t>(bins));  // hits - sum of p
  for (size_t row = 0; row < rows; ++row) {
    const auto values = probabilities.subspan(row * columns, columns);
    const auto best = std::ranges::max_element(values);
    const bool hit = labels[row] == best - values.begin();
    const double bin = std::ceil(static_cast<double>(*best) * bins) - 1;
    surplus[static_cast<size_t>(std::clamp(bin, 0.0, bins - 1.0))] += hit - double{*best};
  }
  double sum = 0;
  for (const double value : surplus) sum += std::abs(value);
  return share(sum, static_cast<double>(rows));
}

MultiLabelF1 multi_label_f1(std::span<const uint8_t> actual, std::span<const uint8_t> predicted,
                            int labels) {
  const size_t columns = static_cast<size_t>(labels);
  LINNET_ASSERT(actual.size() == predicted.size() && actual.size() % columns == 0);
  std::vector<int64_t> hits(columns), there(columns), found(columns);
  for (size_t i = 0; i < actual.size(); ++i) {
    hits[i % columns] += actual[i] && predicted[i];
    there[i % columns] += actual[i] != 0;
    found[i % columns] += predicted[i] != 0;
  }
  MeanOfKnown mean;
  for (size_t label = 0; label < columns; ++label)
    mean.add(f1_of(hits[label], there[label], found[label]));
  const auto all = [](const std::vector<int64_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), int64_t{0});
  };
  return {.micro = f1_of(all(hits), all(there), all(found)), .macro = mean.mean()};
}

double bits_per_byte(double nats, int64_t bytes) {
  return share(nats / std::log(2.0), static_cast<double>(bytes));
}

double perplexity(double nats, int64_t tokens) {
  return std::exp(share(nats, static_cast<double>(tokens)));
}

}  // namespace linnet
