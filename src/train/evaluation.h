// evaluation.h -- loss, accuracy and predictions of a model on examples, some at a time.
//
// Always without dropout and label smoothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/example.h"
#include "models/inference.h"
#include "train/loss.h"

namespace linnet {

// Means over the examples, or over the targets of all tokens. Accuracy: see Score.
struct StepResult {
  double loss = 0, accuracy = 0;
  int64_t tokens = 0;
};
StepResult means_of(const Score& score, int64_t tokens);

// What the model says of some examples, as metrics.h takes it.
struct Predictions {
  // [examples, classes]: softmax, or with many labels the sigmoid of each class. None of a
  // classifier of tokens, whose would fill the memory.
  std::vector<float> probabilities;
  // The most probable class of each example; of tokens: of each token that has a target, else -1,
  // example after example.
  std::vector<int32_t> classes;
};

class Evaluation {
 public:
  Evaluation(Context& context, const Model& model, const float* values);
  // Adds the examples to result().
  Predictions add(std::span<const Example> examples);
  // Of all examples since the beginning; it does not depend on how they were cut into spans.
  StepResult result() const { return means_of(total_, tokens_); }
  // The same as sums, e.g. the nats of a language model.
  const Score& total() const { return total_; }
  // Whether every answer so far was; see refuse_answer().
  bool finite() const { return finite_; }

 private:
  Predictions add_examples(std::span<const Example> examples, std::span<const Tokens> sequences);
  Predictions add_tokens(std::span<const Example> examples, std::span<const Tokens> sequences);

  const Model& model_;
  Inference inference_;
  Score total_;
  int64_t tokens_ = 0;
  bool finite_ = true;
};

// Loss and accuracy of a model on a list of examples.
StepResult evaluate(Context& context, const Model& model, const float* values,
                    std::span<const Example> examples);

}  // namespace linnet
