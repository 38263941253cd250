// example_run.h -- one example of a batch: its place in the batch, its dropout, its forward, loss
// and backward.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/example.h"
#include "models/embedding.h"
#include "models/training_run.h"
#include "train/loss.h"

namespace linnet {

// The examples of a batch in the order in which they are run: longest first, equals as given.
std::vector<const Example*> by_length(std::span<const Example* const> batch);

// The key of the dropout of the number-th example of a run, counted in the order they are run.
uint64_t dropout_key(uint64_t seed, uint64_t number);

// What all examples of a batch share.
struct BatchRun {
  const Model& model;
  const Sinusoids& sinusoids;
  Weights weights;
  bool recompute;
  double smoothing;  // of the labels
  int64_t sampled;   // classes of tokens that the loss is over, beside the targets; 0: all
};

// Adds the example's gradient to `grads`. `visit`, where given, sees what every stage gave, the
// logits included; it needs a run without recompute. `input_gradient`: see TrainingOptions.
Score run_example(const BatchRun& run, const Example& example, uint64_t key, Workspace& workspace,
                  float* grads, const VisitStage& visit = {},
                  const InputGradient& input_gradient = {});

}  // namespace linnet
