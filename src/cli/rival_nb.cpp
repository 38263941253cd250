// rival_nb.cpp -- naive Bayes weights and a logistic regression beside a model.
#include <fmt/format.h>

#include "cli/terminal.h"
#include "cli/text_rivals.h"
#include "train/metrics.h"
#include "train/naive_bayes.h"

namespace linnet {
namespace {

std::vector<TextFigures> run_nb(const TextContest& contest) {
  const LabelSet labels(contest.prepared.settings.labels);
  const int classes = static_cast<int>(labels.names().size());
  const WordNgrams rule = ngram_rule(classes);
  TextFigures figures{.model = "nb"};
  contest.show("nb: reading");
  const Clock::time_point start = Clock::now();
  const auto read = [&](const DataPart& part) {
    return read_ngrams(contest.context, part, labels, rule);
  };
  NgramTexts train = read(contest.prepared.parts.train);
  const double reading = seconds_since(start);
  const NgramTexts validation = read(contest.prepared.parts.validation);
  const double reading_both = seconds_since(start);
  Clock::time_point last = Clock::now();
  NaiveBayes model = fit_naive_bayes(
      contest.context, train, validation, classes, rule,
      [&](double strength, double accuracy, bool best) {
        if (best) figures.seconds = reading + seconds_since(last);
        last = Clock::now();
        contest.show(fmt::format("nb: strength {:g}, validation {:.4f}", strength, accuracy));
      });
  if (contest.prepared.parts.test) {
    contest.show("nb: on validation too");
    const Clock::time_point refit = Clock::now();
    train.add(validation);
    model = model.refitted(contest.context, train);
    figures.seconds = reading_both + seconds_since(refit);
  }
  figures.search_seconds = seconds_since(start);
  figures.settings = fmt::format("words 1 to {} in a row, 2^{} buckets, strength {:g}",
                                 rule.longest, rule.bits, model.strength());
  figures.bytes = model.bytes();
  const Clock::time_point predicting = Clock::now();
  const NgramTexts texts = read(contest.scored);
  ConfusionMatrix confusion(classes);
  for (size_t i = 0; i < texts.labels.size(); ++i)
    confusion.add(texts.labels[i], model.predict(texts.rows.row(i)));
  figures.texts = static_cast<int64_t>(texts.labels.size());
  figures.texts_per_s = static_cast<double>(figures.texts) / seconds_since(predicting);
  figures.accuracy = confusion.accuracy();
  figures.macro_f1 = confusion.macro_f1();
  return {figures};
}

}  // namespace

extern const TextRival kNaiveBayesRival = {
    .name = "nb",
    .summary = "word n-grams, weighed by naive Bayes, in a logistic regression",
    .check = nullptr,
    .run = run_nb,
};

}  // namespace linnet
