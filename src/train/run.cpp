// run.cpp -- the loop of a run, one step at a time.
#include "train/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/file.h"
#include "data/task_settings.h"
#include "models/model_folder.h"
#include "train/card.h"

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
      "{} is {}, so there is nothing to learn from; gradient norms: {}; try a "
      "smaller --lr, a longer --warmup or a smaller --clip",
      diagnosis.where, diagnosis.largest, norms);
}

// Some of a part, in the order of the file, so the same ones every time; whole records.
std::vector<Example> first_examples(const DataPart& part, ExampleMaker maker, int64_t records) {
  ExampleStream stream(part, std::move(maker));
  std::vector<Example> examples;
  while (stream.records() < records && stream.next(examples)) {
  }
  stream.cut(examples);
  return examples;
}

}  // namespace

Run::Run(Context& context, std::filesystem::path folder, const ModelConfig& config,
         const PreparedTask& prepared, const RunSettings& settings,
         const std::filesystem::path& start)
    : context_(context),
      folder_(std::move(folder)),
      prepared_(prepared),
      settings_(settings),
      model_(config),
      trainer_(context, model_, initial_values(model_, static_cast<uint64_t>(settings.seed), start),
               train_config(settings)),
      started_(Clock::now()),
      saved_(started_) {
  if (settings.steps == 0 && settings.epochs == 0 && settings.minutes == 0)
    throw Error("[train.minutes] a run needs an end: --steps, --epochs or --minutes");
  validation_ = first_examples(prepared.parts.validation, maker(), settings.validation_rows);
  FeedPosition position;
  resumed_ = load_checkpoint(position);
  open_log();
  feed_ = std::make_unique<Feed>(
      [this] { return std::make_unique<ExampleStream>(prepared_.parts.train, maker()); },
      feed_options(settings), position, vary());
  started_ = Clock::now();
}

Run::~Run() {
  if (log_) std::fclose(log_);
}

ExampleMaker Run::maker() const {
  return ExampleMaker(prepared_.settings, *prepared_.tokenizer, model_.config(), true);
}

Feed::Vary Run::vary() const {
  if (!prepared_.task->masked) return {};
  return [maker = maker()](Random& random, Example& example) { maker.vary(random, example); };
}

double Run::seconds() const { return state_.seconds + seconds_from(started_); }

double Run::progress() const {
  double done = 0;
  const auto reach = [&](double at, double end) {
    if (end > 0) done = std::max(done, at / end);
  };
  reach(static_cast<double>(steps()), static_cast<double>(settings_.steps));
  reach(feed_->epochs(prepared_.records), settings_.epochs);
  reach(seconds(), settings_.minutes * 60);
  return std::min(done, 1.0);
}

bool Run::stopped_early() const {
  return settings_.patience > 0 &&
         state_.evaluations - state_.best_evaluation >= settings_.patience;
}

bool Run::finished() const { return progress() >= 1 || stopped_early(); }

StepResult Run::step() {
  const double done = progress();
  StepResult sum;
  double weight = 0;
  std::span<const Example* const> batch;
  for (int64_t i = 0; i < settings_.accumulate; ++i) {
    batch = feed_->next();
    const int64_t before = trainer_.pending();
    const StepResult result = trainer_.accumulate(batch);
    const auto n = static_cast<double>(trainer_.pending() - before);
    sum.loss += n * result.loss;
    sum.accuracy += n * result.accuracy;
    sum.tokens += result.tokens;
    weight += n;
  }
  sum.loss /= std::max(weight, 1.0);
  sum.accuracy /= std::max(weight, 1.0);
  const double norm = trainer_.update(done);
  if (!std::isfinite(sum.loss) || !std::isfinite(norm)) {
    throw Error(fmt::format("[train] step {}: {}; the last good state is in {}", steps() + 1,
                            describe(trainer_.diagnose(batch)), place_of(folder_)));
  }
  state_.tokens += sum.tokens;
  write_line({{"step", steps()},
              {"loss", sum.loss},
              {"accuracy", sum.accuracy},
              {"gradient_norm", norm},
              {"tokens", state_.tokens},
              {"seconds", seconds()}});
  return sum;
}

StepResult Run::advance() {
  const StepResult result = step();
  const bool look = evaluation_due();
  if (look) evaluate();
  if (look || checkpoint_due()) save_checkpoint();
  return result;
}

bool Run::evaluation_due() const {
  const auto due = std::floor(progress() * static_cast<double>(settings_.evaluations) + 1e-9);
  return static_cast<double>(state_.evaluations) < due;
}

bool Run::better(const TaskScore& score) const {
  const double value = score.figure(prepared_.task->metric), loss = score.figure("loss");
  if (std::isnan(state_.best) || value == state_.best)
    return std::isnan(state_.best) || loss < state_.best_loss;
  return prepared_.task->metric == "bits_per_byte" ? value < state_.best : value > state_.best;
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
    state_.best = last_.figure(prepared_.task->metric);
    state_.best_loss = last_.figure("loss");
    state_.best_evaluation = state_.evaluations;
    save_model(folder_, model_, trainer_.averaged_values(),
               model_card(prepared_, model_, settings_, steps(), last_),
               task_settings_to_json(prepared_.settings));
    save_tokenizer(*prepared_.tokenizer, folder_);
  }
}

TaskScore Run::score_best(const DataPart& part) {
  const LoadedModel best = load_model(folder_);
  return score_part(context_, model_, best.values.data(), part, maker(), *prepared_.task,
                    *prepared_.tokenizer);
}

void Run::write_line(const Json& line) {
  const std::string text = line.dump() + "\n";
  if (std::fwrite(text.data(), 1, text.size(), log_) != text.size())
    throw Error(fmt::format("[{}] cannot write", place_of(folder_ / "metrics.jsonl")));
  state_.log_bytes += static_cast<int64_t>(text.size());
}

}  // namespace linnet
