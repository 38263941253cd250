// metrics.h -- how good predictions are: the figures that people expect for each kind of task.
//
// Rows of probabilities are row-major, [rows, classes]. A figure that the data cannot give, e.g. a
// ROC AUC with one class only, is NaN.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace linnet {

// How often each class was taken for each.
class ConfusionMatrix {
 public:
  explicit ConfusionMatrix(int classes);
  void add(int actual, int predicted);
  int classes() const { return classes_; }
  int64_t count(int actual, int predicted) const;
  int64_t actual(int cls) const;     // rows of this class
  int64_t predicted(int cls) const;  // rows taken for it

  // Share of the rows with predicted = actual.
  double accuracy() const;
  // 2 hits / (actual + predicted): the harmonic mean of precision and recall; NaN for a class that
  // is neither there nor predicted.
  double f1(int cls) const;
  // Mean of f1 over the classes that have one.
  double macro_f1() const;

 private:
  int classes_;
  std::vector<int64_t> counts_;  // [actual, predicted]
};

// The chance that a positive row has a higher score than a negative one, equals counting half:
// the area under the ROC curve (Mann and Whitney). O(n log n).
double roc_auc(std::span<const float> scores, std::span<const uint8_t> positive);
// Mean over the classes of the ROC AUC of this class against the others; classes without rows, or
// with all rows, are left out.
double roc_auc_one_vs_rest(std::span<const float> probabilities, std::span<const int32_t> labels,
                           int classes);

// Expected calibration error (Guo et al. 2017): rows go by the probability p of their best class
// into bins of equal width, ((b-1)/bins, b/bins]; sum over bins of share |accuracy - mean p|.
double calibration_error(std::span<const float> probabilities, std::span<const int32_t> labels,
                         int classes, int bins = 15);

struct MultiLabelF1 {
  double micro;  // of all labels of all rows together
  double macro;  // mean over the labels that are there or predicted
};
// Rows of truth values, [rows, labels].
MultiLabelF1 multi_label_f1(std::span<const uint8_t> actual, std::span<const uint8_t> predicted,
                            int labels);

// Of a language model whose loss on a text is `nats` in all (natural logarithm, summed over
// tokens): bits for a byte of the text, the same for every tokenizer; and e^(nats a token).
double bits_per_byte(double nats, int64_t bytes);
double perplexity(double nats, int64_t tokens);

}  // namespace linnet
