// naive_bayes.h -- word n-grams, weighed by their log-count ratios, in a logistic regression: a
// strong and quick rival for texts.
//
// Two classes are one regression, more are one each against the others. No weights are learnt for
// what was never seen, and a text costs a sum over its n-grams.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/context.h"
#include "data/labels.h"
#include "data/part.h"
#include "data/word_ngrams.h"
#include "train/log_count_ratio.h"
#include "train/logistic.h"

namespace linnet {

// The texts of a part as their n-grams.
struct NgramTexts {
  SparseRows rows;
  std::vector<int> labels;
  RatioOf ratio = RatioOf::features;
  void add(const NgramTexts& others);
};
// The rule for so many classes: the table of all of them has at most 2^26 weights.
WordNgrams ngram_rule(int classes);
// A record without exactly one of the labels is an Error.
NgramTexts read_ngrams(Context& context, const DataPart& part, const LabelSet& labels,
                       const WordNgrams& rule);

class NaiveBayes {
 public:
  NaiveBayes(Context& context, const NgramTexts& train, const ClassCounts& counts, double strength);
  // The same classes, table and strength on other texts. Once the strength is chosen, validation's
  // labels are too good to waste.
  NaiveBayes refitted(Context& context, const NgramTexts& texts) const;
  int predict(std::span<const uint32_t> features) const;
  // Share of the texts that it is right on.
  double accuracy(const NgramTexts& texts) const;
  double strength() const { return strength_; }
  int classes() const { return models_.size() == 1 ? 2 : static_cast<int>(models_.size()); }
  // Of two classes that of the second; of more one each.
  std::span<const LogisticModel> models() const { return models_; }
  // Of all weights.
  int64_t bytes() const;

 private:
  double strength_;
  std::vector<LogisticModel> models_;
};

// The best strength on validation, the smaller one of equals. Each that was tried is told.
NaiveBayes fit_naive_bayes(
    Context& context, const NgramTexts& train, const NgramTexts& validation, int classes,
    const WordNgrams& rule,
    const std::function<void(double strength, double accuracy, bool best)>& tell = nullptr);

}  // namespace linnet
