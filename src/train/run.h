// run.h -- a training run in a folder: steps, looks at validation, checkpoints.
//
// The folder is a model folder (config.json, tokenizer, README.md, model.safetensors: the best
// model so far by validation) with metrics.jsonl, one line a step or a look, and
// checkpoint.safetensors, the whole state of the run. Each file is replaced at once, so a kill or a
// full disk at any moment leaves a run that goes on from its last checkpoint, and ends with the
// same bits as one that was never disturbed (but for one that ends by the clock). A look that was
// taken after that checkpoint is taken again, and writes the same model again.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/log_file.h"
#include "data/feed.h"
#include "data/prepare.h"
#include "models/model.h"
#include "train/event_file.h"
#include "train/run_note.h"
#include "train/run_settings.h"
#include "train/task_score.h"
#include "train/trainer.h"

namespace linnet {

// A run that cannot go on: its loss or gradient is not finite.
class Diverged : public Error {
 public:
  using Error::Error;
};

// The figure of validation that a run chooses its model by.
inline std::string_view metric_of(const Task& task, const RunSettings& settings) {
  return settings.choose_by.empty() ? task.metric : std::string_view(settings.choose_by);
}

// An Error for settings that make no run: without an end, or what such a model and task do not
// have.
void check_settings(const ModelConfig& config, const Task& task, const RunSettings& settings);

class Run {
 public:
  // The task, its tokenizer and its data outlive the run. Whoever makes it holds the folder's lock.
  // `start`: a model folder whose encoder it begins with (initial_values), or none.
  Run(Context& context, std::filesystem::path folder, const ModelConfig& config,
      const PreparedTask& prepared, const RunSettings& settings,
      const std::filesystem::path& start = {});
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Whether it goes on from a checkpoint.
  bool resumed() const { return resumed_; }
  bool finished() const;
  // Share of the whole that is done, 0 .. 1, as it was after the last step.
  double progress() const { return done_; }
  // One optimiser step; then a look at validation and a checkpoint where they are due.
  StepResult advance();
  void save_checkpoint();
  // From now on also event files for TensorBoard, in the folder's folder of that name.
  void write_events();

  const Model& model() const { return model_; }
  int64_t steps() const { return trainer_.steps(); }
  int64_t tokens() const { return state_.tokens; }
  double epochs() const { return state_.epochs; }
  double seconds() const;  // of training, also before a stop
  // The figure of validation that decides which model is the best.
  std::string_view metric() const { return metric_of(*prepared_.task, settings_); }
  // Of the best model so far; NaN before the first look, and where no look had that figure.
  double best() const { return state_.best; }
  double best_loss() const { return state_.best_loss; }
  int64_t evaluations() const { return state_.evaluations; }
  // Of the last look.
  const TaskScore& last() const { return last_; }
  // Patience is at its end.
  bool stopped_early() const;
  // Of a finished run: fits the parts that its config asks for at the side of the best model,
  // unless the folder has them; in the end on validation too.
  void fit_sides(const std::function<void(const std::string&)>& show);
  // The best model, as it is in the folder, on all of a part, e.g. test.
  TaskScore score_best(const DataPart& part);
  // The best model on validation; with parts at its side that have not seen it.
  TaskScore score_validation();

 private:
  StepResult step();
  double measure_progress() const;
  double looks_due() const;
  bool evaluation_due() const;
  // On validation; keeps the model if it is the best so far.
  void evaluate();
  bool checkpoint_due() const;
  ExampleMaker maker(const ModelConfig& config) const;
  Feed::Vary vary() const;
  bool load_checkpoint(FeedPosition& position);
  bool better(const TaskScore& score) const;
  void write_line(const nlohmann::ordered_json& line);

  Context& context_;
  std::filesystem::path folder_;
  const PreparedTask& prepared_;
  RunSettings settings_;
  ModelConfig config_;  // of what is wanted at the end
  Model model_;         // of what is trained: without parts at its side
  Trainer trainer_;
  std::unique_ptr<Feed> feed_;
  std::vector<Example> validation_;
  RunState state_;
  TaskScore last_;
  bool resumed_ = false;
  std::optional<LogFile> log_;
  std::optional<EventFile> events_;
  double done_ = 0;
  std::chrono::steady_clock::time_point started_, saved_;
};

}  // namespace linnet
