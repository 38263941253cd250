// naive_bayes.cpp -- counts, ratios, one regression a class, and the choice of its strength.
#include "train/naive_bayes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/error.h"

namespace linnet {
namespace {

constexpr double kStrengths[] = {0.01, 0.1, 1, 10};
constexpr double kSmoothing = 1;
constexpr size_t kTexts = 1024;  // hashed together

ClassCounts count(const NgramTexts& texts, int classes, size_t features) {
  ClassCounts counts(classes, features, texts.ratio);
  for (size_t i = 0; i < texts.labels.size(); ++i) counts.add(texts.rows.row(i), texts.labels[i]);
  return counts;
}

}  // namespace

void NgramTexts::add(const NgramTexts& others) {
  for (size_t i = 0; i < others.rows.size(); ++i) rows.add(others.rows.row(i));
  labels.insert(labels.end(), others.labels.begin(), others.labels.end());
}

WordNgrams ngram_rule(int classes) {
  WordNgrams rule;
  while (rule.bits > 16 && rule.buckets() * static_cast<size_t>(classes) > size_t{1} << 26)
    --rule.bits;
  return rule;
}

NgramTexts read_ngrams(Context& context, const DataPart& part, const LabelSet& labels,
                       const WordNgrams& rule) {
  PartReader reader(part);
  NgramTexts result;
  std::vector<std::string> texts;
  for (bool more = true; more;) {
    texts.clear();
    for (Record record; texts.size() < kTexts && (more = reader.next(record));) {
      const std::vector<int> classes = labels.classes_of(record);
      if (classes.size() > 1)
        throw Error(fmt::format("[{}] has {} labels: only one can be right", place_of(record),
                                classes.size()));
      texts.emplace_back(record.text);
      result.labels.push_back(classes[0]);
    }
    std::vector<std::vector<uint32_t>> ids(texts.size());
    context.parallel(static_cast<int64_t>(texts.size()), [&](int64_t i, int) {
      word_ngrams(texts[static_cast<size_t>(i)], rule, ids[static_cast<size_t>(i)]);
    });
    for (const std::vector<uint32_t>& features : ids) result.rows.add(features);
  }
  return result;
}

NaiveBayes::NaiveBayes(Context& context, const NgramTexts& train, const ClassCounts& counts,
                       double strength)
    : strength_(strength),
      models_(counts.classes() == 2 ? 1 : static_cast<size_t>(counts.classes())) {
  context.parallel(static_cast<int64_t>(models_.size()), [&](int64_t task, int) {
    const int c = models_.size() == 1 ? 1 : static_cast<int>(task);
    std::vector<uint8_t> positive(train.labels.size());
    for (size_t i = 0; i < positive.size(); ++i) positive[i] = train.labels[i] == c;
    models_[static_cast<size_t>(task)] = fit_logistic(
        train.rows, positive, counts.log_ratios(c, kSmoothing), {.strength = strength});
  });
}

NaiveBayes NaiveBayes::refitted(Context& context, const NgramTexts& texts) const {
  return NaiveBayes(context, texts, count(texts, classes(), models_[0].weights.size()), strength_);
}

int NaiveBayes::predict(std::span<const uint32_t> features) const {
  if (models_.size() == 1) return models_[0].score(features) > 0;
  int best = 0;
  double most = models_[0].score(features);
  for (size_t c = 1; c < models_.size(); ++c) {
    const double score = models_[c].score(features);
    if (score > most) best = static_cast<int>(c);
    most = std::max(most, score);
  }
  return best;
}

double NaiveBayes::accuracy(const NgramTexts& texts) const {
  size_t hits = 0;
  for (size_t i = 0; i < texts.labels.size(); ++i)
    hits += predict(texts.rows.row(i)) == texts.labels[i];
  return static_cast<double>(hits) / static_cast<double>(texts.labels.size());
}

int64_t NaiveBayes::bytes() const {
  return static_cast<int64_t>(models_.size() * models_[0].weights.size() * sizeof(float));
}

NaiveBayes fit_naive_bayes(Context& context, const NgramTexts& train, const NgramTexts& validation,
                           int classes, const WordNgrams& rule,
                           const std::function<void(double, double, bool)>& tell) {
  const ClassCounts counts = count(train, classes, rule.buckets());
  std::optional<NaiveBayes> best;
  double most = -1;
  for (const double strength : kStrengths) {
    NaiveBayes model(context, train, counts, strength);
    const double accuracy = model.accuracy(validation);
    if (tell) tell(strength, accuracy, accuracy > most);
    if (accuracy <= most) continue;
    most = accuracy;
    best = std::move(model);
  }
  return *std::move(best);
}

}  // namespace linnet
