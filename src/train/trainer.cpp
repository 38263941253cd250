// trainer.cpp -- batches to gradients to steps.
#include "train/trainer.h"

#include <algorithm>

#include "core/error.h"
#include "core/random.h"
#include "models/inference.h"
#include "train/loss.h"
#include "train/orthogonality.h"

namespace linnet {
namespace {

// Below this, adding a unit's gradient would cost more than a few percent of computing it.
constexpr int64_t kUnitTokens = 1024;

StepResult means_of(const Score& total) {
  const auto n = static_cast<double>(std::max<int64_t>(total.count, 1));
  return {.loss = total.loss / n, .accuracy = static_cast<double>(total.hits) / n};
}

}  // namespace

Trainer::Trainer(Context& context, const Model& model, Block values, const TrainConfig& config)
    : context_(context),
      model_(model),
      config_(config),
      parameters_(context, model, std::move(values), true),
      sinusoids_(model.config().width),
      optimizer_(model.layout(), config.optimizer),
      workspaces_(static_cast<size_t>(context.threads())),
      sum_(model.layout().floats(), config.lanes > 0   ? config.lanes
                                    : config.recompute ? 3
                                                       : 4) {}

Block Trainer::copy_values() const {
  Block copy(model_.layout().floats());
  std::copy_n(values(), copy.size(), copy.data());
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

Score Trainer::run_example(const Example& example, uint64_t key, Workspace& workspace,
                           float* lane) {
  const Tokens sequences[2] = {example.tokens, example.other};
  const Weights weights = parameters_.weights();
  const TrainingOptions options{.recompute = config_.recompute,
                                .dropout = static_cast<float>(model_.config().dropout),
                                .dropout_key = key};
  TrainingRun run(model_, sinusoids_, weights, workspace, options);
  if (model_.of_tokens()) {
    Score score;
    run.forward_tokens(example.tokens);
    run.backward_tokens(
        [&](int64_t first, int64_t rows, Mat logits) {
          score += token_cross_entropy(rows, model_.config().classes,
                                       example.targets.data() + first, logits);
        },
        lane);
    return score;
  }
  const auto logits = run.forward({sequences, static_cast<size_t>(model_.sequences())});
  LINNET_ASSERT(example.label >= 0 && example.label < model_.config().classes);
  std::vector<float> dlogits(logits.size());
  const double loss = cross_entropy(logits, example.label, dlogits);
  run.backward(dlogits, lane);
  return {loss, best_class(logits) == example.label, 1};
}

StepResult Trainer::accumulate(std::span<const Example* const> batch) {
  for (const Example* e : batch) {
    model_.check(e->tokens);
    if (model_.sequences() == 2) model_.check(e->other);
    if (model_.of_tokens()) LINNET_ASSERT(e->targets.size() == e->tokens.size());
  }
  std::vector<const Example*> sorted(batch.begin(), batch.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const Example* a, const Example* b) {
    return tokens_of(*a) > tokens_of(*b);
  });
  const std::vector<Unit> units = units_of(sorted);
  std::vector<Score> scores(sorted.size());
  sum_.run(
      context_, static_cast<int64_t>(units.size()), [&](int64_t number, int worker, float* lane) {
        const Unit& unit = units[static_cast<size_t>(number)];
        for (size_t i = unit.first; i < unit.last; ++i) {
          const uint64_t key = Random(config_.seed, seen_ + i).bits64();
          scores[i] = run_example(*sorted[i], key, workspaces_[static_cast<size_t>(worker)], lane);
        }
      });
  Score total;
  for (const Score& score : scores) total += score;
  StepResult result = means_of(total);
  for (const Example* e : sorted) result.tokens += tokens_of(*e);
  seen_ += sorted.size();
  pending_ += total.count;
  return result;
}

double Trainer::update() {
  pending_ = std::max<int64_t>(pending_, 1);  // a batch may have no target at all
  const double norm = optimizer_.step(context_, 1.0f / static_cast<float>(pending_), sum_.total(),
                                      parameters_.values());
  pending_ = 0;
  pull_orthogonal(context_, model_.layout(), config_.orthogonality, parameters_.values());
  model_.layout().redraw(config_.seed, optimizer_.steps(), parameters_.values());
  parameters_.pack(context_, model_);
  return norm;
}

StepResult evaluate(Context& context, const Model& model, const float* values,
                    std::span<const Example> examples) {
  Block copy(model.layout().floats());
  std::copy_n(values, copy.size(), copy.data());
  Inference inference(context, model, std::move(copy));
  std::vector<Tokens> sequences;
  int64_t tokens = 0;
  for (const Example& e : examples) {
    sequences.emplace_back(e.tokens);
    if (model.sequences() == 2) sequences.emplace_back(e.other);
    tokens += tokens_of(e);
  }
  const auto classes = static_cast<size_t>(model.config().classes);
  std::vector<Score> scores(examples.size());
  if (model.of_tokens()) {
    inference.token_logits(sequences, [&](size_t i, int64_t first, int64_t rows, Mat logits) {
      scores[i] += token_cross_entropy(rows, model.config().classes,
                                       examples[i].targets.data() + first, logits);
    });
  } else {
    const std::vector<float> logits = inference.logits(sequences);
    std::vector<float> unused(classes);
    for (size_t i = 0; i < examples.size(); ++i) {
      const std::span<const float> row(logits.data() + i * classes, classes);
      scores[i] = {cross_entropy(row, examples[i].label, unused),
                   best_class(row) == examples[i].label, 1};
    }
  }
  Score total;
  for (const Score& score : scores) total += score;
  StepResult result = means_of(total);
  result.tokens = tokens;
  return result;
}

}  // namespace linnet
