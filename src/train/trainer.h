// trainer.h -- training steps over ragged batches: one work unit a thread, gradients added in a
// fixed order.
//
// A batch is sorted by length and cut into units of consecutive examples (at least kUnitTokens
// tokens), whose gradients are summed in lanes (gradient_lanes.h): memory does not grow with the
// batch, and the sum is the same bit for bit on any number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/example.h"
#include "models/embedding.h"
#include "models/model.h"
#include "models/training_run.h"
#include "train/gradient_lanes.h"
#include "train/loss.h"
#include "train/optimizer.h"

namespace linnet {

struct TrainConfig {
  OptimizerConfig optimizer;
  double orthogonality = 0.1;  // lambda of the regulariser of orthogonal feature maps
  bool recompute = false;      // small memory, more time
  // Sums that units are added to, at most one thread in each: more keep more threads busy and take
  // a block of memory each. The result depends on it in the last bits. 0: 4, with recompute 3.
  int lanes = 0;
  uint64_t seed = 1;  // of dropout and redrawn projections; the initial values are the caller's
};

// Means over the examples, or over the targets of all tokens.
struct StepResult {
  double loss = 0, accuracy = 0;
  int64_t tokens = 0;
};

class Trainer {
 public:
  Trainer(Context& context, const Model& model, Block values, const TrainConfig& config);
  // Forward and backward over the batch, gradient summed into grads(); more batches may follow
  // before update().
  StepResult accumulate(std::span<const Example* const> batch);
  // One optimiser step with the mean gradient of all examples (targets) since the last; returns the
  // gradient's norm.
  double update();

  const Model& model() const { return model_; }
  const float* values() const { return parameters_.values(); }
  Block copy_values() const;
  const float* grads() const { return sum_.total(); }
  int64_t steps() const { return optimizer_.steps(); }
  // Examples or targets that grads() is the sum over.
  int64_t pending() const { return pending_; }

 private:
  struct Unit {
    size_t first, last;  // of the sorted batch
  };
  std::vector<Unit> units_of(std::span<const Example* const> sorted) const;
  // Adds the example's gradient to `lane`.
  Score run_example(const Example& example, uint64_t key, Workspace& workspace, float* lane);

  Context& context_;
  const Model& model_;
  TrainConfig config_;
  Parameters parameters_;
  Sinusoids sinusoids_;
  Optimizer optimizer_;
  std::vector<Workspace> workspaces_;
  GradientLanes sum_;    // of the units' gradients
  int64_t pending_ = 0;  // examples or targets since the last update
  uint64_t seen_ = 0;    // examples ever: the dropout's counter
};

// Loss and accuracy of a model on a list of examples.
StepResult evaluate(Context& context, const Model& model, const float* values,
                    std::span<const Example> examples);

}  // namespace linnet
