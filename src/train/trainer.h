// trainer.h -- training steps over ragged batches: one work unit a thread, gradients added in a
// fixed order.
//
// A batch is sorted by length and cut into units of consecutive examples (at least kUnitTokens
// tokens), whose gradients are summed in lanes (gradient_lanes.h): memory does not grow with the
// batch, and the sum is the same bit for bit on any number of threads. A model with n-grams also
// keeps C numbers a token until update() (sparse_adagrad.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "train/average.h"
#include "train/diagnosis.h"
#include "train/evaluation.h"
#include "train/example_run.h"
#include "train/gradient_lanes.h"
#include "train/optimizer.h"
#include "train/sparse_adagrad.h"

namespace linnet {

struct TrainConfig {
  OptimizerConfig optimizer;
  double orthogonality = 0.1;  // lambda of the regulariser of orthogonal feature maps
  double label_smoothing = 0;  // of softmax losses (loss.h); the losses of steps are with it
  int64_t sampled = 0;         // classes in the loss of tokens (sampled_softmax.h); 0: all
  double ema = 0;              // decay of the averaged weights (average.h), e.g. 0.999; 0: none
  bool recompute = false;      // small memory, more time
  // Sums that units are added to, at most one thread in each: more keep more threads busy and take
  // a block of memory each. The result depends on it in the last bits. 0: 4, with recompute 3.
  int lanes = 0;
  uint64_t seed = 1;  // of dropout and redrawn projections; the initial values are the caller's
};

// As many as there are where none are named.
int lanes_of(const TrainConfig& config);
// An Error names the field, e.g. "[train.ema] ...".
void check_training(const TrainConfig& config, const Model& model);

class Trainer {
 public:
  Trainer(Context& context, const Model& model, Block values, const TrainConfig& config);
  // Forward and backward over the batch, gradient summed into grads(); more batches may follow
  // before update().
  StepResult accumulate(std::span<const Example* const> batch);
  // One optimiser step with the mean gradient of all examples (targets) since the last; returns the
  // gradient's norm. Where that is not finite no step is taken: the gradient is dropped and all
  // else stays, for diagnose(). progress: share of the run that is done before the step, in 0 .. 1
  // (schedule.h); without it, by config.optimizer.steps.
  double update();
  double update(double progress);
  // Of the sum of gradients since the last update: not finite as soon as one of its batches spoils
  // it, which is then the batch to diagnose.
  double gradient_norm() const { return optimizer_.norm(context_, sum_.total()); }
  // Where a loss or gradient that is not finite began; batch: the one that accumulate took last.
  Diagnosis diagnose(std::span<const Example* const> batch) const;

  const Model& model() const { return model_; }
  const float* values() const { return parameters_.values(); }
  // What to evaluate and to save: the averaged weights, or values() where there are none.
  const float* averaged_values();
  Block copy_values() const;
  // Of the dense parameters; of all, the sparse tables written out.
  const float* grads() const { return sum_.total(); }
  Block copy_grads() const;
  int64_t steps() const { return optimizer_.steps(); }
  // Examples or targets that grads() is the sum over.
  int64_t pending() const { return pending_; }
  // Examples ever.
  uint64_t seen() const { return seen_; }

  // The exact state between two steps, in one safetensors file (state.cpp): a run that goes on from
  // it is bit for bit the one that was never interrupted, if it gets the same batches. The model,
  // seed, lanes and use of averaged weights must be those of the file; an Error says which is not,
  // or what is wrong with the file, and nothing is changed. `note` is the caller's and comes back.
  void save_state(const std::filesystem::path& path, const std::string& note = "") const;
  std::string load_state(const std::filesystem::path& path);

 private:
  struct Unit {
    size_t first, last;  // of the sorted batch
  };
  std::vector<Unit> units_of(std::span<const Example* const> sorted) const;
  BatchRun batch_run() const;
  double step(double rate);
  // visit(name, shape, data) for every tensor of the state; Self: Trainer, const or not.
  template <class Self, class Visit>
  static void for_each_state_tensor(Self& self, const Visit& visit);

  Context& context_;
  const Model& model_;
  TrainConfig config_;
  Parameters parameters_;
  Sinusoids sinusoids_;
  Optimizer optimizer_;
  std::optional<Average> average_;
  std::vector<Workspace> workspaces_;
  GradientLanes sum_;  // of the units' gradients
  SparseAdagrad sparse_;
  int64_t pending_ = 0;  // examples or targets since the last update
  uint64_t seen_ = 0;    // examples ever: the dropout's counter
};

}  // namespace linnet
