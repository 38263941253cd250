// task_score.h -- how well a model does on examples of a task, in the figures that people expect.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/example.h"
#include "data/task.h"
#include "models/inference.h"
#include "train/metrics.h"

namespace linnet {

// What a model says of one record; windows of the same record give one answer, their mean.
struct Answer {
  int64_t record = 0;
  std::vector<float> probabilities;  // of each class; with many labels of each by itself
  int label = -1;                    // the true one; -1: unknown
  std::vector<int32_t> targets;      // many labels: the true ones
};

// Answers of a classifier or a matcher, in the order of the examples, whose windows stand together.
std::vector<Answer> answers_of(Inference& inference, const ModelConfig& config,
                               std::span<const Example> examples);

// Of p, a small guard against log 0.
double negative_log(double p);

struct TaskScore {
  int64_t count = 0;                                    // records, or targets of tokens
  std::vector<std::pair<std::string, double>> figures;  // in the order to print; the loss first
  std::optional<ConfusionMatrix> confusion;
  // NaN when there is no such figure.
  double figure(std::string_view name) const;
};

// Gives some more examples in a cleared vector; false after the last.
using MoreExamples = std::function<bool(std::vector<Example>& out)>;

TaskScore score_task(Inference& inference, const ModelConfig& config, const Task& task,
                     const Tokenizer& tokenizer, const MoreExamples& more);

}  // namespace linnet
