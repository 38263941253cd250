// run.cpp -- the loop of a run, one step at a time.
#include "train/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/file.h"
#include "core/folder.h"
#include "data/drop_tokens.h"
#include "data/task_settings.h"
#include "models/model_folder.h"
#include "train/card.h"
#include "train/run_identity.h"
#include "train/run_memory.h"
#include "train/schedule.h"
#include "train/side_parts.h"

namespace linnet {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

double seconds_from(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// What to say of a run that cannot go on.
std::string describe(const Diagnosis& diagnosis) {
  if (diagnosis.where.empty())
    return "the loss or its gradient is not finite, but every layer is; try a smaller --lr";
  std::string norms;
  for (const Diagnosis::Group& group : diagnosis.groups)
    norms += fmt::format("{}{} {:.2g}", norms.empty() ? "" : ", ", group.stage, group.gradient);
  return fmt::format(
      "{} is {}{}, so there is nothing to learn from; gradient norms: {}; try a "
      "smaller --lr, a longer --warmup or a smaller --clip",
      diagnosis.where, diagnosis.largest,
      diagnosis.record < 0 ? "" : fmt::format(" in record {} of train", diagnosis.record + 1),
      norms);
}

// Where there is one, to end a sentence.
std::string good_state(const std::filesystem::path& folder) {
  constexpr std::string_view kStates[] = {"checkpoint.safetensors", "model.safetensors"};
  if (first_of(folder, kStates).empty()) return "";
  return fmt::format("; the last good state is in {}", place_of(folder));
}

// Values to begin with, where the run that they are of fits into the memory.
Block start_values(Context& context, const ModelConfig& config, const PreparedTask& prepared,
                   const RunSettings& settings, const Model& model,
                   const std::filesystem::path& start) {
  context.memory().check("to train", run_need(config, prepared, settings, context.threads()));
  return initial_values(model, static_cast<uint64_t>(settings.seed), start);
}

ModelConfig without_sides(ModelConfig config) {
  config.wide = config.regions = 0;
  return config;
}

}  // namespace

void check_settings(const ModelConfig& config, const Task& task, const RunSettings& settings) {
  if (settings.steps == 0 && settings.epochs == 0 && settings.minutes == 0)
    throw Error("[train.minutes] a run needs an end: --steps, --epochs or --minutes");
  if (settings.drop_tokens > 0 && (config.task == "tokens" || !task.cut))
    throw Error(fmt::format("[train.drop_tokens] task \"{}\" needs all of its tokens", task.name));
  const std::string_view metric = metric_of(task, settings);
  const std::vector<std::string_view> figures = choosing_figures(config, task);
  if (std::ranges::find(figures, metric) != figures.end()) return;
  throw Error(
      fmt::format("[train.choose_by] models of task \"{}\" are not chosen by \"{}\"; there are: {}",
                  task.name, printable(metric), fmt::join(figures, ", ")));
}

Run::Run(Context& context, std::filesystem::path folder, const ModelConfig& config,
         const PreparedTask& prepared, const RunSettings& settings,
         const std::filesystem::path& start)
    : context_(context),
      folder_(std::move(folder)),
      prepared_(prepared),
      settings_(settings),
      config_(config),
      model_(without_sides(config)),
      trainer_(context, model_, start_values(context, config, prepared, settings, model_, start),
               train_config(settings)),
      started_(Clock::now()),
      saved_(started_) {
  check_settings(config, *prepared.task, settings);
  validation_ =
      some_examples(prepared.parts.validation, maker(model_.config()), settings.validation_rows,
                    prepared.task->labelled ? prepared.validation_records : 0);
  check_identity(folder_, prepared, config, settings);
  FeedPosition position;
  resumed_ = load_checkpoint(position);
  FeedOptions options = feed_options(settings);
  options.cache = folder_;
  feed_ = std::make_unique<Feed>(
      [this] {
        return std::make_unique<ExampleStream>(prepared_.parts.train, maker(model_.config()));
      },
      options, position, vary());
  // Now that the settings have made a run: those that make none do not bind the folder. First of
  // all files, since it says that the others are the run's.
  save_identity(folder_, prepared, config, settings);
  save_tokenizer(*prepared.tokenizer, folder_);
  // Lines after the checkpoint are of steps that are taken again.
  log_.emplace(folder_ / "metrics.jsonl", state_.log_bytes);
  started_ = Clock::now();
  done_ = measure_progress();
}

ExampleMaker Run::maker(const ModelConfig& config) const {
  return ExampleMaker(prepared_.settings, *prepared_.tokenizer, config, true);
}

Feed::Vary Run::vary() const {
  if (settings_.drop_tokens > 0)
    return [share = settings_.drop_tokens](Random& random, Example& example) {
      drop_tokens(share, random, example);
    };
  if (!prepared_.task->masked) return {};
  return [maker = maker(model_.config())](Random& random, Example& example) {
    maker.vary(random, example);
  };
}

double Run::seconds() const { return state_.seconds + seconds_from(started_); }

double Run::measure_progress() const {
  double done = 0;
  const auto reach = [&](double at, double end) {
    if (end > 0) done = std::max(done, at / end);
  };
  reach(static_cast<double>(steps()), static_cast<double>(settings_.steps));
  reach(state_.epochs, settings_.epochs);
  reach(seconds(), settings_.minutes * 60);
  return std::min(done, 1.0);
}

bool Run::stopped_early() const {
  return settings_.patience > 0 &&
         state_.evaluations - state_.best_evaluation >= settings_.patience;
}

bool Run::finished() const {
  // A run by the clock that was stopped at its very end still needs its look.
  return (done_ >= 1 && state_.evaluations > 0) || stopped_early();
}

StepResult Run::step() {
  const Clock::time_point start = Clock::now();
  StepResult sum;
  double weight = 0, norm = 0;
  int64_t batches = 0;
  for (bool more = true; more;) {
    const std::span<const Example* const> batch = feed_->next();
    const int64_t before = trainer_.pending();
    const StepResult result = trainer_.accumulate(batch);
    const auto n = static_cast<double>(trainer_.pending() - before);
    sum.loss += n * result.loss;
    sum.accuracy += n * result.accuracy;
    sum.tokens += result.tokens;
    weight += n;
    ++batches;
    more = settings_.accumulate_tokens > 0 ? sum.tokens < settings_.accumulate_tokens
                                           : batches < settings_.accumulate;
    // Asked after every batch: the one in which it begins is the one to look into.
    const bool sound = std::isfinite(result.loss);
    norm = !sound ? result.loss : more ? trainer_.gradient_norm() : trainer_.update(done_);
    if (!std::isfinite(norm)) {
      throw Diverged(fmt::format("[train] step {}{}: {}{}", steps() + 1,
                                 more || batches > 1 ? fmt::format(", batch {}", batches) : "",
                                 describe(trainer_.diagnose(batch)), good_state(folder_)));
    }
  }
  sum.loss /= std::max(weight, 1.0);
  sum.accuracy /= std::max(weight, 1.0);
  const double rate = learning_rate(train_config(settings_).optimizer, steps(), done_);
  state_.tokens += sum.tokens;
  state_.epochs = feed_->epochs(prepared_.records);
  done_ = measure_progress();
  write_line({{"step", steps()},
              {"loss", sum.loss},
              {"accuracy", sum.accuracy},
              {"gradient_norm", norm},
              {"learning_rate", rate},
              {"tokens", state_.tokens},
              {"seconds", seconds()},
              {"tokens_per_s", static_cast<double>(sum.tokens) / seconds_from(start)}});
  return sum;
}

StepResult Run::advance() {
  const StepResult result = step();
  const bool look = evaluation_due();
  if (look) evaluate();
  if (look || checkpoint_due()) save_checkpoint();
  return result;
}

double Run::looks_due() const {
  return std::floor(done_ * static_cast<double>(settings_.evaluations) + 1e-9);
}

bool Run::evaluation_due() const { return static_cast<double>(state_.evaluations) < looks_due(); }

bool Run::better(const TaskScore& score) const {
  if (state_.best_evaluation == 0) return true;
  return is_better(metric(), {score.figure(metric()), score.figure("loss")},
                   {state_.best, state_.best_loss});
}

void Run::evaluate() {
  Evaluation evaluation(context_, model_, trainer_.averaged_values());
  size_t at = 0;
  // Some records at a time, whose windows stay together.
  const auto more = [&](std::vector<Example>& out) {
    constexpr size_t kExamples = 512;
    const size_t from = at;
    while (at < validation_.size() &&
           (at - from < kExamples || validation_[at].record == validation_[at - 1].record))
      out.push_back(validation_[at++]);
    return at < validation_.size();
  };
  last_ = score_task(evaluation, model_.config(), *prepared_.task, *prepared_.tokenizer, more);
  ++state_.evaluations;
  Json line = {{"step", steps()}, {"seconds", seconds()}};
  for (const auto& [name, value] : last_.figures) line["validation_" + name] = value;
  write_line(line);
  if (better(last_)) {
    state_.best = last_.figure(metric());
    state_.best_loss = last_.figure("loss");
    state_.best_evaluation = state_.evaluations;
    save_model(folder_, model_, trainer_.averaged_values(),
               model_card(prepared_, model_, settings_, steps(), last_),
               task_settings_to_json(prepared_.settings));
  }
}

void Run::write_events() { events_.emplace(folder_ / "tensorboard", steps() + 1); }

void Run::fit_sides(const std::function<void(const std::string&)>& show) {
  if (!has_side_parts(config_) || has_side_parts(load_config(folder_))) return;
  const Model whole(config_);
  const auto judge = [&](const Block& values) {
    state_.wide_figures = score_part(context_, whole, values.data(), prepared_.parts.validation,
                                     maker(config_), *prepared_.task, *prepared_.tokenizer)
                              .figures;
  };
  const auto fit = [&] {
    const Block best = load_values(folder_, model_);
    ExampleStream train(prepared_.parts.train, maker(config_)),
        validation(prepared_.parts.validation, maker(config_));
    SideFit parts = fit_side_parts(context_, model_, best.data(), whole, train, validation,
                                   settings_.seed, show);
    judge(parts.on_train);
    save_checkpoint();
    return std::move(parts.on_both);
  };
  // A kill between two files of the save below leaves the weights of all parts beside the config of
  // one.
  const char* last = config_.regions > 0 ? "regions.weight" : "wide.weight";
  const Block values = has_tensor(folder_, last) ? load_values(folder_, whole) : fit();
  if (state_.wide_figures.empty()) judge(values);  // of a version that did not fit on validation
  save_model(folder_, whole, values.data(),
             model_card(prepared_, whole, settings_, steps(), score_validation()),
             task_settings_to_json(prepared_.settings));
}

TaskScore Run::score_best(const DataPart& part) {
  const LoadedModel best = load_model(folder_, context_.memory());
  return score_part(context_, Model(best.config), best.values.data(), part, maker(best.config),
                    *prepared_.task, *prepared_.tokenizer);
}

TaskScore Run::score_validation() {
  if (state_.wide_figures.empty()) return score_best(prepared_.parts.validation);
  TaskScore score;
  score.count = prepared_.validation_records;
  score.figures = state_.wide_figures;
  return score;
}

void Run::write_line(const Json& line) {
  log_->append(line.dump() + "\n");
  if (!events_) return;
  std::vector<Scalar> scalars;
  for (const auto& [name, value] : line.items()) {
    constexpr std::string_view kLook = "validation_";
    if (name == "step" || name == "seconds" || name == "tokens" || !value.is_number()) continue;
    scalars.push_back(
        {name.starts_with(kLook) ? "validation/" + name.substr(kLook.size()) : "train/" + name,
         value.get<double>()});
  }
  events_->write(line["step"].get<int64_t>(), scalars);
}

}  // namespace linnet
