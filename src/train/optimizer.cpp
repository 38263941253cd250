// optimizer.cpp -- the parallel AdamW step.
#include "train/optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/file.h"
#include "kernels/adamw.h"
#include "kernels/rows.h"

namespace linnet {
namespace {
constexpr int64_t kRange = 1 << 15;  // floats that one task updates
}

void check_optimizer(const OptimizerConfig& c) {
  const auto check = [](const char* name, double value, double least, double most) {
    if (value >= least && value <= most) return;
    throw Error(
        fmt::format("[train.{}] must be a number from {} to {}, not {}", name, least, most, value));
  };
  check("lr", c.lr, 0, 1e9);
  check("weight_decay", c.weight_decay, 0, 1e9);
  check("warmup", static_cast<double>(c.warmup), 1, 1e12);
  check("steps", static_cast<double>(c.steps), 0, 1e15);
  check("final_lr", c.final_lr, 0, 1);
  check("clip", c.clip, 0, 1e30);
  check("beta1", c.beta1, 0, 0.9999999);
  check("beta2", c.beta2, 0, 0.9999999);
  check("eps", c.eps, 1e-30, 1);
  check("sparse_lr", c.sparse_lr, 0, 1e9);
  check("embed_rate", c.embed_rate, 0, 1e9);
  for (const char* known : {"rsqrt", "constant", "linear", "cosine"}) {
    if (c.schedule == known) return;
  }
  throw Error(
      fmt::format("[train.schedule] must be one of rsqrt, constant, linear, cosine, not \"{}\"",
                  printable(c.schedule)));
}

double sparse_learning_rate(const OptimizerConfig& config, int64_t step) {
  return config.sparse_lr *
         std::min(1.0, static_cast<double>(step) / static_cast<double>(config.warmup));
}

Optimizer::Optimizer(const ParamLayout& layout, const OptimizerConfig& config)
    : config_(config), m_(layout.dense_floats()), v_(layout.dense_floats()) {
  check_optimizer(config);
  for (const ParamSpec& spec : layout.specs()) {
    if (!spec.learned || spec.sparse) continue;
    const double rate = spec.name == "embed.weight" ? config.embed_rate : 1;
    for (int64_t at = 0; at < spec.size(); at += kRange) {
      ranges_.push_back({spec.offset + at, std::min(kRange, spec.size() - at), spec.decay, rate});
    }
  }
}

double Optimizer::norm(Context& context, const float* grads) const {
  std::vector<double> squares(ranges_.size());
  context.parallel(static_cast<int64_t>(ranges_.size()), [&](int64_t i, int) {
    const Range& r = ranges_[static_cast<size_t>(i)];
    squares[static_cast<size_t>(i)] = sum_of_squares(r.size, grads + r.offset);
  });
  double sum = 0;
  for (double square : squares) sum += square;
  return std::sqrt(sum);
}

double Optimizer::step(Context& context, double rate, float scale, float* grads, float* values) {
  const auto count = static_cast<int64_t>(ranges_.size());
  const double norm = this->norm(context, grads) * scale;
  if (!std::isfinite(norm)) {
    for (const Range& r : ranges_) std::fill_n(grads + r.offset, r.size, 0.0f);
    return norm;
  }
  ++steps_;
  const double shrink = config_.clip > 0 && norm > config_.clip ? config_.clip / norm : 1.0;
  const auto s = static_cast<double>(steps_);
  AdamwStep step{.rate = static_cast<float>(rate),
                 .beta1 = static_cast<float>(config_.beta1),
                 .beta2 = static_cast<float>(config_.beta2),
                 .eps = static_cast<float>(config_.eps),
                 .decay = static_cast<float>(config_.weight_decay),
                 .correction1 = static_cast<float>(1 - std::pow(config_.beta1, s)),
                 .correction2 = static_cast<float>(1 - std::pow(config_.beta2, s)),
                 .gradient_scale = static_cast<float>(scale * shrink)};
  context.parallel(count, [&](int64_t i, int) {
    const Range& r = ranges_[static_cast<size_t>(i)];
    AdamwStep own = step;
    own.rate = static_cast<float>(rate * r.rate);
    if (!r.decay) own.decay = 0;
    adamw(r.size, own, grads + r.offset, values + r.offset, m_.data() + r.offset,
          v_.data() + r.offset);
    std::fill_n(grads + r.offset, r.size, 0.0f);
  });
  return norm;
}

}  // namespace linnet
