// task_score.cpp -- logits to probabilities to figures.
#include "train/task_score.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "train/loss.h"

namespace linnet {
namespace {

constexpr int kMostConfused = 1000;  // classes: beyond, the matrix is a gigabyte for nobody

// Of p; log 0 is kept from it.
double negative_log(double p) { return -std::log(std::max(p, 1e-30)); }

// Sums over answers with one label each.
class OneLabel {
 public:
  explicit OneLabel(int classes) : classes_(classes) {
    if (classes <= kMostConfused) confusion_.emplace(classes);
  }
  void add(const Answer& answer) {
    const std::span<const float> p = answer.probabilities;
    const int best = best_class(p);
    loss_ += negative_log(p[static_cast<size_t>(answer.label)]);
    hits_ += best == answer.label;
    labels_.push_back(answer.label);
    if (!confusion_) return;
    confusion_->add(answer.label, best);
    all_.insert(all_.end(), p.begin(), p.end());
  }
  TaskScore score() const {
    const auto n = static_cast<double>(labels_.size());
    TaskScore score{.count = static_cast<int64_t>(labels_.size()),
                    .figures = {{"loss", loss_ / n}, {"accuracy", static_cast<double>(hits_) / n}},
                    .confusion = confusion_};
    if (!confusion_) return score;
    score.figures.emplace_back("macro_f1", confusion_->macro_f1());
    score.figures.emplace_back("roc_auc", roc_auc_one_vs_rest(all_, labels_, classes_));
    score.figures.emplace_back("calibration_error", calibration_error(all_, labels_, classes_));
    return score;
  }

 private:
  int classes_;
  double loss_ = 0;
  int64_t hits_ = 0;
  std::vector<int32_t> labels_;
  std::vector<float> all_;
  std::optional<ConfusionMatrix> confusion_;
};

// Sums over answers with any number of labels each.
class ManyLabels {
 public:
  explicit ManyLabels(int classes) : classes_(classes) {}
  void add(const Answer& answer) {
    double loss = 0;
    bool exact = true;
    for (int c = 0; c < classes_; ++c) {
      const bool actual = std::ranges::binary_search(answer.targets, c);
      const double p = answer.probabilities[static_cast<size_t>(c)];
      loss += negative_log(actual ? p : 1 - p);
      actual_.push_back(actual);
      predicted_.push_back(p >= 0.5);
      exact &= actual == (p >= 0.5);
    }
    loss_ += loss / classes_;
    exact_ += exact;
    ++count_;
  }
  TaskScore score() const {
    const auto n = static_cast<double>(count_);
    const MultiLabelF1 f1 = multi_label_f1(actual_, predicted_, classes_);
    return {.count = count_,
            .figures = {{"loss", loss_ / n},
                        {"accuracy", static_cast<double>(exact_) / n},
                        {"micro_f1", f1.micro},
                        {"macro_f1", f1.macro}},
            .confusion = {}};
  }

 private:
  int classes_;
  double loss_ = 0;
  int64_t exact_ = 0, count_ = 0;
  std::vector<uint8_t> actual_, predicted_;
};

template <class Sums>
TaskScore score_answers(Evaluation& evaluation, const ModelConfig& config,
                        const MoreExamples& more) {
  Sums sums(static_cast<int>(config.classes));
  std::vector<Example> examples;
  for (bool going = true; going;) {
    examples.clear();
    going = more(examples);
    for (const Answer& answer : answers_of(evaluation, config, examples)) sums.add(answer);
  }
  return sums.score();
}

// Of the tokens that were told.
int64_t bytes_of(const Tokenizer& tokenizer, std::vector<int32_t> targets) {
  std::erase(targets, -1);
  return static_cast<int64_t>(tokenizer.decode(targets).size());
}

TaskScore score_tokens(Evaluation& evaluation, const ModelConfig& config, const Task& task,
                       const Tokenizer& tokenizer, const MoreExamples& more) {
  int64_t bytes = 0;
  const bool tags = task.labelled && config.classes <= kMostConfused;
  ConfusionMatrix confusion(tags ? static_cast<int>(config.classes) : 1);
  std::vector<Example> examples;
  for (bool going = true; going;) {
    examples.clear();
    going = more(examples);
    const Predictions predictions = evaluation.add(examples);
    size_t at = 0;
    for (const Example& e : examples) {
      if (!task.labelled) bytes += bytes_of(tokenizer, e.targets);
      for (size_t t = 0; tags && t < e.targets.size(); ++t) {
        if (e.targets[t] >= 0) confusion.add(e.targets[t], predictions.classes[at + t]);
      }
      at += e.tokens.size();
    }
  }
  const Score& total = evaluation.total();
  const auto n = static_cast<double>(total.count);
  TaskScore score{.count = total.count, .figures = {{"loss", total.loss / n}}, .confusion = {}};
  if (!task.labelled) {
    score.figures.emplace_back("bits_per_byte", bits_per_byte(total.loss, bytes));
    score.figures.emplace_back("perplexity", perplexity(total.loss, total.count));
  }
  score.figures.emplace_back("accuracy", static_cast<double>(total.hits) / n);
  if (tags) score.figures.emplace_back("macro_f1", confusion.macro_f1());
  if (tags) score.confusion = confusion;
  return score;
}

}  // namespace

std::vector<std::string_view> choosing_figures(const ModelConfig& config, const Task& task) {
  std::vector<std::string_view> names = {"loss", "accuracy"};
  const bool tokens = config.task == "tokens";
  if (tokens && !task.labelled) names.push_back("bits_per_byte");
  if (!tokens && config.loss == "sigmoid") return {"loss", "accuracy", "micro_f1", "macro_f1"};
  if (task.labelled && config.classes <= kMostConfused) {
    names.push_back("macro_f1");
    if (!tokens) names.push_back("roc_auc");
  }
  return names;
}

bool is_better(std::string_view figure, const Look& a, const Look& b) {
  const bool no_a = std::isnan(a.value), no_b = std::isnan(b.value);
  if (no_a != no_b) return no_b;
  if (no_a || a.value == b.value) return a.loss < b.loss;
  const bool small = figure == "loss" || figure == "bits_per_byte";
  return small ? a.value < b.value : a.value > b.value;
}

double TaskScore::figure(std::string_view name) const {
  for (const auto& [known, value] : figures) {
    if (known == name) return value;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

nlohmann::ordered_json figures_json(const TaskScore& score) {
  nlohmann::ordered_json json;
  for (const auto& [name, value] : score.figures) json[name] = value;
  return json;
}

std::vector<Answer> answers_of(Evaluation& evaluation, const ModelConfig& config,
                               std::span<const Example> examples) {
  const Predictions predictions = evaluation.add(examples);
  const auto classes = static_cast<size_t>(config.classes);
  std::vector<Answer> answers;
  for (size_t i = 0, last; i < examples.size(); i = last) {
    last = i + 1;
    while (last < examples.size() && examples[last].record == examples[i].record) ++last;
    Answer answer{.record = examples[i].record,
                  .probabilities = std::vector<float>(classes),
                  .label = examples[i].label,
                  .targets = examples[i].targets};
    for (size_t row = i; row < last; ++row) {
      for (size_t c = 0; c < classes; ++c)
        answer.probabilities[c] +=
            predictions.probabilities[row * classes + c] / static_cast<float>(last - i);
    }
    answers.push_back(std::move(answer));
  }
  return answers;
}

TaskScore score_task(Evaluation& evaluation, const ModelConfig& config, const Task& task,
                     const Tokenizer& tokenizer, const MoreExamples& more) {
  const auto score = [&] {
    if (config.task == "tokens") return score_tokens(evaluation, config, task, tokenizer, more);
    if (config.loss == "sigmoid") return score_answers<ManyLabels>(evaluation, config, more);
    return score_answers<OneLabel>(evaluation, config, more);
  };
  TaskScore result = score();
  result.finite = evaluation.finite();
  return result;
}

TaskScore score_part(Context& context, const Model& model, const float* values,
                     const DataPart& part, ExampleMaker maker, const Task& task,
                     const Tokenizer& tokenizer) {
  constexpr size_t kExamples = 512;
  ExampleStream stream(part, std::move(maker));
  Evaluation evaluation(context, model, values);
  return score_task(evaluation, model.config(), task, tokenizer, [&](std::vector<Example>& out) {
    while (out.size() < kExamples) {
      if (!stream.next(out)) return false;
    }
    return true;
  });
}

}  // namespace linnet
