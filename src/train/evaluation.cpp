// evaluation.cpp -- logits to scores and predictions.
#include "train/evaluation.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "kernels/softmax.h"
#include "models/token_head.h"
#include "train/example_run.h"

namespace linnet {
namespace {

Block copy_of(const Model& model, const float* values) {
  Block copy(model.layout().floats());
  std::copy_n(values, copy.size(), copy.data());
  return copy;
}

}  // namespace

StepResult means_of(const Score& score, int64_t tokens) {
  const auto n = static_cast<double>(std::max<int64_t>(score.count, 1));
  return {
      .loss = score.loss / n, .accuracy = static_cast<double>(score.hits) / n, .tokens = tokens};
}

Evaluation::Evaluation(Context& context, const Model& model, const float* values)
    : model_(model), inference_(context, model, copy_of(model, values)) {}

Predictions Evaluation::add(std::span<const Example> examples) {
  std::vector<Tokens> sequences;
  for (const Example& e : examples) {
    sequences.emplace_back(e.tokens);
    if (model_.sequences() == 2) sequences.emplace_back(e.other);
    tokens_ += tokens_of(e);
  }
  return model_.of_tokens() ? add_tokens(examples, sequences) : add_examples(examples, sequences);
}

Predictions Evaluation::add_examples(std::span<const Example> examples,
                                     std::span<const Tokens> sequences) {
  const int64_t classes = model_.config().classes;
  const auto width = static_cast<size_t>(classes);
  Predictions predictions{.probabilities = inference_.logits(sequences), .classes = {}};
  finite_ &=
      std::ranges::all_of(predictions.probabilities, [](float x) { return std::isfinite(x); });
  std::vector<float> unused(width);
  for (size_t i = 0; i < examples.size(); ++i) {
    const auto row = std::span(predictions.probabilities).subspan(i * width, width);
    if (examples[i].label >= 0 || model_.many_labels())
      total_ += example_loss(model_, examples[i], 0, row, unused);
    predictions.classes.push_back(best_class(row));
    if (!model_.many_labels()) {
      softmax_rows(1, classes, {row.data(), classes});
    } else {
      for (float& x : row) x = 1 / (1 + std::exp(-x));
    }
  }
  return predictions;
}

Predictions Evaluation::add_tokens(std::span<const Example> examples,
                                   std::span<const Tokens> sequences) {
  const int64_t classes = model_.config().classes;
  std::vector<size_t> start;  // of each example's tokens in the predictions
  std::vector<std::vector<int64_t>> asked;
  size_t count = 0;
  for (const Example& e : examples) {
    LINNET_ASSERT(e.targets.size() == e.tokens.size());
    asked.push_back(rows_with_target(e.targets));
    start.push_back(count);
    count += e.tokens.size();
  }
  Predictions predictions{.probabilities = {}, .classes = std::vector<int32_t>(count, -1)};
  std::vector<Score> scores(examples.size());
  inference_.token_logits(
      sequences, asked, [&](size_t i, std::span<const int64_t> rows, Mat logits) {
        std::vector<int32_t> targets;
        for (size_t r = 0; r < rows.size(); ++r) {
          const auto t = static_cast<size_t>(rows[r]);
          targets.push_back(examples[i].targets[t]);
          predictions.classes[start[i] + t] =
              best_class({logits.row(static_cast<int64_t>(r)), static_cast<size_t>(classes)});
        }
        scores[i] += token_cross_entropy(static_cast<int64_t>(rows.size()), classes, targets.data(),
                                         0, logits);
      });
  for (const Score& score : scores) {
    finite_ &= std::isfinite(score.loss);  // which no logit that is NaN or too large leaves finite
    total_ += score;
  }
  return predictions;
}

StepResult evaluate(Context& context, const Model& model, const float* values,
                    std::span<const Example> examples) {
  Evaluation evaluation(context, model, values);
  evaluation.add(examples);
  return evaluation.result();
}

}  // namespace linnet
