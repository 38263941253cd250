// task_score.h -- how well a model does on examples of a task, in the figures that people expect.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/example.h"
#include "data/part.h"
#include "data/task.h"
#include "train/evaluation.h"
#include "train/metrics.h"

namespace linnet {

// What a model says of one record; windows of the same record give one answer, their mean.
struct Answer {
  int64_t record = 0;
  std::vector<float> probabilities;  // of each class; with many labels of each by itself
  int label = -1;                    // the true one; -1: unknown
  std::vector<int32_t> targets;      // many labels: the true ones
};

// Of a classifier or a matcher, in the order of the examples, whose windows stand together.
std::vector<Answer> answers_of(Evaluation& evaluation, const ModelConfig& config,
                               std::span<const Example> examples);

using Figures = std::vector<std::pair<std::string, double>>;

struct TaskScore {
  int64_t count = 0;  // records, or targets of tokens
  Figures figures;    // in the order to print; the loss first
  std::optional<ConfusionMatrix> confusion;
  bool finite = true;  // all answers were
  // NaN when there is no such figure.
  double figure(std::string_view name) const;
};
nlohmann::ordered_json figures_json(const TaskScore& score);

// Of those that score_task has for such a model: by which models can be chosen.
std::vector<std::string_view> choosing_figures(const ModelConfig& config, const Task& task);
// What a look at validation says of a model.
struct Look {
  double value, loss;  // of the figure that decides
};
// Whether a is better than b by that figure. One that is no number, as the area under a curve of a
// class that is not there, is worse than any; between equals the loss decides.
bool is_better(std::string_view figure, const Look& a, const Look& b);

// Adds some more examples to an empty vector; false after the last.
using MoreExamples = std::function<bool(std::vector<Example>& out)>;

TaskScore score_task(Evaluation& evaluation, const ModelConfig& config, const Task& task,
                     const Tokenizer& tokenizer, const MoreExamples& more);

// All of a part of the data, some records at a time.
TaskScore score_part(Context& context, const Model& model, const float* values,
                     const DataPart& part, ExampleMaker maker, const Task& task,
                     const Tokenizer& tokenizer);

}  // namespace linnet
