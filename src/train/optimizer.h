// optimizer.h -- AdamW over the parameter block with the papers' schedule, and clipping by the
// global norm.
#pragma once

#include <cstdint>
#include <vector>

#include "core/arena.h"
#include "core/context.h"
#include "models/model.h"

namespace linnet {

struct OptimizerConfig {
  double lr = 0.05;
  double weight_decay = 0.1;
  int64_t warmup = 1000;
  double clip = 1.0;  // largest global norm of the gradient; 0: no clipping
  double beta1 = 0.9, beta2 = 0.98, eps = 1e-9;
};

// An Error names the field, e.g. "[train.lr] ...".
void check_optimizer(const OptimizerConfig& config);

// lr * min(1, s / warmup) / sqrt(max(s, warmup)) at step s = 1, 2, ... (the LRA schedule).
double learning_rate(const OptimizerConfig& config, int64_t step);

class Optimizer {
 public:
  Optimizer(const ParamLayout& layout, const OptimizerConfig& config);
  // One step with the mean gradient grads * scale; clears grads. Returns the norm before clipping.
  // The result does not depend on the number of threads.
  double step(Context& context, float scale, float* grads, float* values);
  int64_t steps() const { return steps_; }

 private:
  struct Range {
    int64_t offset, size;
    bool decay;
  };
  OptimizerConfig config_;
  std::vector<Range> ranges_;
  Block m_, v_;
  int64_t steps_ = 0;
};

}  // namespace linnet
