// trainer.cpp -- batches to gradients to steps.
#include "train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "train/orthogonality.h"
#include "train/schedule.h"

namespace linnet {
namespace {

// Below this, adding a unit's gradient would cost more than a few percent of computing it.
constexpr int64_t kUnitTokens = 1024;

}  // namespace

int lanes_of(const TrainConfig& config) {
  if (config.lanes > 0) return config.lanes;
  return config.recompute ? 3 : 4;
}

void check_training(const TrainConfig& config, const Model& model) {
  check_optimizer(config.optimizer);
  const auto check = [](const char* name, double value) {
    if (value >= 0 && value < 1) return;
    throw Error(fmt::format("[train.{}] must be at least 0 and below 1, not {}", name, value));
  };
  check("label_smoothing", config.label_smoothing);
  check("ema", config.ema);
  if (config.label_smoothing > 0 && model.many_labels()) {
    throw Error("[train.label_smoothing] is for one label: the model has \"loss\": \"sigmoid\"");
  }
  if (config.label_smoothing > 0 && config.sampled > 0 && model.of_tokens()) {
    throw Error("[train.sampled] label smoothing needs all classes: one of the two is to be 0");
  }
}

Trainer::Trainer(Context& context, const Model& model, Block values, const TrainConfig& config)
    : context_(context),
      model_(model),
      config_(config),
      parameters_(context, model, std::move(values), true),
      sinusoids_(model.config().width),
      optimizer_(model.layout(), config.optimizer),
      workspaces_(static_cast<size_t>(context.threads())),
      sum_(model.layout().dense_floats(), lanes_of(config)),
      sparse_(model.ngrams()) {
  check_training(config, model);
  if (model.wide().longest > 0 || model.regions().places > 0)
    throw Error(
        "[config] wide and regions are fitted at the end of linnet train, not trained: must be 0 "
        "here");
  if (config.ema > 0) average_.emplace(model.layout(), config.ema, parameters_.values());
}

const float* Trainer::averaged_values() {
  if (!average_) return values();
  // The sparse tail has no average: a pass over it at every step would cost more than the step.
  const int64_t dense = model_.layout().dense_floats();
  std::copy_n(values() + dense, model_.layout().floats() - dense, average_->values() + dense);
  return average_->values();
}

Block Trainer::copy_values() const {
  Block copy(model_.layout().floats());
  std::copy_n(values(), copy.size(), copy.data());
  return copy;
}

Block Trainer::copy_grads() const {
  Block copy(model_.layout().floats());
  std::copy_n(grads(), model_.layout().dense_floats(), copy.data());
  sparse_.add_to(copy.data() + model_.ngrams().weight);
  return copy;
}

std::vector<Trainer::Unit> Trainer::units_of(std::span<const Example* const> sorted) const {
  std::vector<Unit> units;
  int64_t tokens = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (units.empty() || tokens >= kUnitTokens) {
      units.push_back({i, i});
      tokens = 0;
    }
    units.back().last = i + 1;
    tokens += tokens_of(*sorted[i]);
  }
  return units;
}

BatchRun Trainer::batch_run() const {
  return {.model = model_,
          .sinusoids = sinusoids_,
          .weights = parameters_.weights(),
          .recompute = config_.recompute,
          .smoothing = config_.label_smoothing,
          .sampled = config_.sampled};
}

StepResult Trainer::accumulate(std::span<const Example* const> batch) {
  for (const Example* e : batch) {
    model_.check(e->tokens);
    if (model_.sequences() == 2) model_.check(e->other);
    if (model_.of_tokens()) LINNET_ASSERT(e->targets.size() == e->tokens.size());
  }
  const std::vector<const Example*> sorted = by_length(batch);
  const std::vector<Unit> units = units_of(sorted);
  const BatchRun run = batch_run();
  std::vector<Score> scores(sorted.size());
  const auto towers = static_cast<size_t>(model_.sequences());
  const size_t first = sparse_.expect(sorted.size() * towers);
  sum_.run(context_, static_cast<int64_t>(units.size()),
           [&](int64_t number, int worker, float* lane) {
             const Unit& unit = units[static_cast<size_t>(number)];
             for (size_t i = unit.first; i < unit.last; ++i) {
               size_t sequence = first + i * towers;
               InputGradient keep;
               if (model_.ngrams().longest > 0)
                 keep = [&](Tokens tokens, ConstMat dx) { sparse_.keep(sequence++, tokens, dx); };
               scores[i] = run_example(run, *sorted[i], dropout_key(config_.seed, seen_ + i),
                                       workspaces_[static_cast<size_t>(worker)], lane, {}, keep);
             }
           });
  Score total;
  int64_t tokens = 0;
  for (const Score& score : scores) total += score;
  for (const Example* e : sorted) tokens += tokens_of(*e);
  seen_ += sorted.size();
  pending_ += total.count;
  return means_of(total, tokens);
}

double Trainer::update() { return step(learning_rate(config_.optimizer, steps() + 1)); }

double Trainer::update(double progress) {
  return step(learning_rate(config_.optimizer, steps() + 1, progress));
}

double Trainer::step(double rate) {
  pending_ = std::max<int64_t>(pending_, 1);  // a batch may have no target at all
  const float scale = 1.0f / static_cast<float>(pending_);
  const double norm = optimizer_.step(context_, rate, scale, sum_.total(), parameters_.values());
  pending_ = 0;
  if (!std::isfinite(norm)) {
    sparse_.forget();
    return norm;
  }
  const double sparse_rate = sparse_learning_rate(config_.optimizer, steps());
  sparse_.step(context_, static_cast<float>(sparse_rate), scale, parameters_.values());
  pull_orthogonal(context_, model_.layout(), config_.orthogonality, parameters_.values());
  model_.layout().redraw(config_.seed, steps(), parameters_.values());
  if (average_) average_->update(context_, steps(), parameters_.values());
  parameters_.pack(context_, model_);
  return norm;
}

Diagnosis Trainer::diagnose(std::span<const Example* const> batch) const {
  LINNET_ASSERT(batch.size() <= seen_);
  return linnet::diagnose(batch_run(), by_length(batch), config_.seed, seen_ - batch.size());
}

}  // namespace linnet
