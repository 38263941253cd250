// schedule.cpp -- the schedules by their formulas.
#include "train/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.h"

namespace linnet {

namespace {

bool needs_progress(const OptimizerConfig& config) {
  return config.schedule == "linear" || config.schedule == "cosine";
}

}  // namespace

double learning_rate(const OptimizerConfig& config, int64_t step, double progress) {
  const auto s = static_cast<double>(step), w = static_cast<double>(config.warmup);
  const double p = std::clamp(progress, 0.0, 1.0);
  double shape = 1;
  if (config.schedule == "rsqrt") shape = 1 / std::sqrt(std::max(s, w));
  if (config.schedule == "linear") shape = 1 - p;
  if (config.schedule == "cosine") shape = (1 + std::cos(std::numbers::pi * p)) / 2;
  if (needs_progress(config)) shape = config.final_lr + (1 - config.final_lr) * shape;
  return config.lr * std::min(1.0, s / w) * shape;
}

double learning_rate(const OptimizerConfig& config, int64_t step) {
  if (!needs_progress(config)) return learning_rate(config, step, 0);
  if (config.steps == 0) {
    throw Error(
        fmt::format("[train.steps] the schedule {} needs the number of steps", config.schedule));
  }
  return learning_rate(config, step,
                       static_cast<double>(step - 1) / static_cast<double>(config.steps));
}

}  // namespace linnet
