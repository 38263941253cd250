// schedule.h -- the learning rate over a run.
//
// Warm-up is a factor w(s) = min(1, s / warmup) at step s = 1, 2, ...; p in 0 .. 1 is the share of
// the run that is done before the step, by steps or by the clock:
//   rsqrt      lr w(s) / sqrt(max(s, warmup))               the schedule of Long Range Arena
//   constant   lr w(s)
//   linear     lr w(s) (f + (1 - f) (1 - p))                f = final_lr
//   cosine     lr w(s) (f + (1 - f) (1 + cos(pi p)) / 2)
// Warm-up multiplies, so that a run by the clock need not know how many steps it will have.
#pragma once

#include <cstdint>

#include "train/optimizer.h"

namespace linnet {

// progress outside of 0 .. 1 counts as the nearer end.
double learning_rate(const OptimizerConfig& config, int64_t step, double progress);
// With the progress by steps, (step - 1) / config.steps; an Error where it is needed and steps = 0.
double learning_rate(const OptimizerConfig& config, int64_t step);

}  // namespace linnet
