// logistic.cpp -- dual coordinate descent, one row at a time.
#include "train/logistic.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "core/random.h"

namespace linnet {
namespace {

// The weight and the squared scale of a feature side by side: one cache line for both.
struct Feature {
  float weight, square;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// The root of f(t) = t + norm (strength sigmoid(t) - before) + margin, which rises everywhere; it
// lies where the sigmoid is between 0 and 1. Newton's steps, or halves where they would leave that
// interval.
double solve_row(double start, double norm, double strength, double before, double margin) {
  double low = -margin - norm * (strength - before), high = -margin + norm * before;
  double t = std::clamp(start, low, high);
  for (int step = 0; step < 50; ++step) {
    const double s = sigmoid(t), f = t + norm * (strength * s - before) + margin;
    (f > 0 ? high : low) = t;
    double next = t - f / (1 + norm * strength * s * (1 - s));
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    const double moved = std::abs(next - t);
    t = next;
    if (moved < 1e-9 * (1 + std::abs(t))) break;
  }
  return t;
}

}  // namespace

double LogisticModel::score(std::span<const uint32_t> features) const {
  double sum = bias;
  for (const uint32_t j : features) sum += weights[j];
  return sum;
}

LogisticModel fit_logistic(const SparseRows& rows, std::span<const uint8_t> positive,
                           std::span<const float> scales, const LogisticOptions& options) {
  LINNET_ASSERT(rows.size() == positive.size());
  std::vector<Feature> features(scales.size());
  for (size_t j = 0; j < scales.size(); ++j) features[j] = {0, scales[j] * scales[j]};
  const size_t n = rows.size();
  std::vector<double> norms(n, 1), dual(n), logit(n);  // dual: a_i; logit: where its sigmoid is
  for (size_t i = 0; i < n; ++i) {
    for (const uint32_t j : rows.row(i)) norms[i] += features[j].square;
  }
  std::vector<uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  double bias = 0;
  for (int pass = 0; pass < options.passes; ++pass) {
    Random random(options.seed, static_cast<uint64_t>(pass));
    for (size_t i = n; i > 1; --i)
      std::swap(order[i - 1], order[random.below(static_cast<uint32_t>(i))]);
    double worst = 0;
    for (const uint32_t i : order) {
      const double y = positive[i] ? 1 : -1;
      double sum = bias;
      for (const uint32_t j : rows.row(i)) sum += features[j].weight;
      worst = std::max(worst, std::abs(logit[i] + y * sum));
      logit[i] = solve_row(logit[i], norms[i], options.strength, dual[i], y * sum);
      const double now = options.strength * sigmoid(logit[i]), change = y * (now - dual[i]);
      dual[i] = now;
      bias += change;
      for (const uint32_t j : rows.row(i))
        features[j].weight += static_cast<float>(change * features[j].square);
    }
    if (worst < options.tolerance) break;
  }
  LogisticModel model{.weights = std::vector<float>(features.size()), .bias = bias};
  for (size_t j = 0; j < features.size(); ++j) model.weights[j] = features[j].weight;
  return model;
}

}  // namespace linnet
