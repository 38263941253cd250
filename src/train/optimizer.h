// optimizer.h -- AdamW over the dense parameters, and clipping by their global norm.
//
// The sparse tail of the block has its own step (sparse_adagrad.h), which divides by the size of
// each row's gradients and so needs no clipping; nor does it count in the norm, which would need
// the tail's sums before the dense step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/arena.h"
#include "core/context.h"
#include "models/model.h"

namespace linnet {

struct OptimizerConfig {
  double lr = 0.05;
  double weight_decay = 0.1;
  int64_t warmup = 1000;           // steps
  std::string schedule = "rsqrt";  // rsqrt, constant, linear or cosine: schedule.h
  int64_t steps = 0;               // of the whole run, for linear and cosine; 0: not known
  double final_lr = 0;             // share of lr at which linear and cosine end
  double clip = 1.0;               // largest global norm of the gradient; 0: no clipping
  double beta1 = 0.9, beta2 = 0.98, eps = 1e-9;
  double sparse_lr = 0.05;  // of the table of n-grams
  double embed_rate = 1;    // times lr: of the embeddings
};

// An Error names the field, e.g. "[train.lr] ...".
void check_optimizer(const OptimizerConfig& config);

// sparse_lr * min(1, s / warmup): Adagrad's own sums of squares are its inverse square root.
double sparse_learning_rate(const OptimizerConfig& config, int64_t step);

class Optimizer {
 public:
  Optimizer(const ParamLayout& layout, const OptimizerConfig& config);
  // Of the sum of gradients; does not depend on the number of threads.
  double norm(Context& context, const float* grads) const;
  // One step with the mean gradient grads * scale; clears grads. Returns the norm before clipping;
  // where that is not finite no step is taken, and the values stay. The result does not depend on
  // the number of threads.
  double step(Context& context, double rate, float scale, float* grads, float* values);

  // All that a step leaves behind, to be saved and put back.
  int64_t steps() const { return steps_; }
  void set_steps(int64_t steps) { steps_ = steps; }
  float* m() { return m_.data(); }
  float* v() { return v_.data(); }
  const float* m() const { return m_.data(); }
  const float* v() const { return v_.data(); }

 private:
  struct Range {
    int64_t offset, size;
    bool decay;
    double rate;  // times that of the step
  };
  OptimizerConfig config_;
  std::vector<Range> ranges_;
  Block m_, v_;
  int64_t steps_ = 0;
};

}  // namespace linnet
