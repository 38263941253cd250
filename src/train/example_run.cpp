// example_run.cpp -- forward, loss and backward of one example.
#include "train/example_run.h"

#include <algorithm>

#include "core/random.h"
#include "train/sampled_softmax.h"

namespace linnet {

std::vector<const Example*> by_length(std::span<const Example* const> batch) {
  std::vector<const Example*> sorted(batch.begin(), batch.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const Example* a, const Example* b) {
    return tokens_of(*a) > tokens_of(*b);
  });
  return sorted;
}

uint64_t dropout_key(uint64_t seed, uint64_t number) { return Random(seed, number).bits64(); }

Score run_example(const BatchRun& run, const Example& example, uint64_t key, Workspace& workspace,
                  float* grads, const VisitStage& visit, const InputGradient& input_gradient) {
  const Model& model = run.model;
  const int64_t classes = model.config().classes;
  const TrainingOptions options{.recompute = run.recompute,
                                .dropout = static_cast<float>(model.config().dropout),
                                .dropout_key = key,
                                .input_gradient = input_gradient};
  TrainingRun training(model, run.sinusoids, run.weights, workspace, options);
  if (model.of_tokens()) {
    Score score;
    training.forward_tokens(example.tokens);
    if (visit) training.visit_stages(visit);
    SampledClasses sampled;
    if (run.sampled > 0) sampled = sample_classes(example.targets, classes, run.sampled, key);
    training.backward_tokens(
        example.targets, sampled.classes,
        [&](std::span<const int32_t> targets, Mat logits) {
          const auto rows = static_cast<int64_t>(targets.size());
          const bool all = sampled.classes.empty();
          if (visit)
            visit({Stage::head}, rows, all ? classes : static_cast<int64_t>(sampled.classes.size()),
                  logits);
          score += all ? token_cross_entropy(rows, classes, targets.data(), run.smoothing, logits)
                       : sampled_cross_entropy(sampled, targets, logits);
        },
        grads);
    return score;
  }
  const Tokens sequences[2] = {example.tokens, example.other};
  const auto logits = training.forward({sequences, static_cast<size_t>(model.sequences())});
  if (visit) {
    training.visit_stages(visit);
    visit({Stage::head}, 1, classes, {logits.data(), classes});
  }
  std::vector<float> dlogits(logits.size());
  const Score score = example_loss(model, example, run.smoothing, logits, dlogits);
  training.backward(dlogits, grads);
  return score;
}

}  // namespace linnet
