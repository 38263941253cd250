// loss.cpp -- losses of an example in double, a handful of numbers; of tokens by the kernel, since
// a vocabulary may be large.
#include "train/loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"
#include "kernels/rows.h"
#include "kernels/softmax.h"

namespace linnet {
namespace {

std::vector<bool> truth_of(std::span<const int32_t> classes, size_t count) {
  std::vector<bool> truth(count);
  for (const int32_t cls : classes) truth[static_cast<size_t>(cls)] = true;
  return truth;
}

}  // namespace

double cross_entropy(std::span<const float> logits, int label, double smoothing,
                     std::span<float> dlogits) {
  const double top = *std::max_element(logits.begin(), logits.end());
  double total = 0;
  for (float x : logits) total += std::exp(x - top);
  const double lse = top + std::log(total);
  const double everywhere = smoothing / static_cast<double>(logits.size());
  double loss = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    const double target = everywhere + (static_cast<int>(i) == label ? 1 - smoothing : 0);
    if (target > 0) loss += target * (lse - logits[i]);  // 0 times infinity is 0 here
    dlogits[i] = static_cast<float>(std::exp(logits[i] - lse) - target);
  }
  return loss;
}

double binary_cross_entropy(std::span<const float> logits, std::span<const int32_t> classes,
                            std::span<float> dlogits) {
  const auto n = static_cast<double>(logits.size());
  const std::vector<bool> truth = truth_of(classes, logits.size());
  double loss = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    // -log p = log(1 + exp(-z)), -log(1 - p) = log(1 + exp(z)): one term with the sign of z.
    const double z = truth[i] ? -logits[i] : logits[i];
    loss += std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z)));
    const double p = 1 / (1 + std::exp(-static_cast<double>(logits[i])));
    dlogits[i] = static_cast<float>((p - (truth[i] ? 1 : 0)) / n);
  }
  return loss / n;
}

Score example_loss(const Model& model, const Example& example, double smoothing,
                   std::span<const float> logits, std::span<float> dlogits) {
  const auto known = [&](int cls) { return cls >= 0 && cls < model.config().classes; };
  if (!model.many_labels()) {
    LINNET_ASSERT(known(example.label));
    return {cross_entropy(logits, example.label, smoothing, dlogits),
            best_class(logits) == example.label, 1};
  }
  LINNET_ASSERT(std::ranges::all_of(example.targets, known));
  const std::vector<bool> truth = truth_of(example.targets, logits.size());
  bool all = true;
  for (size_t i = 0; i < logits.size(); ++i) all = all && truth[i] == (logits[i] > 0);
  return {binary_cross_entropy(logits, example.targets, dlogits), all, 1};
}

Score token_cross_entropy(int64_t rows, int64_t classes, const int32_t* targets, double smoothing,
                          Mat logits) {
  Score score;
  const auto everywhere = static_cast<float>(smoothing / static_cast<double>(classes));
  const std::vector<float> ones(static_cast<size_t>(smoothing > 0 ? classes : 0), 1.0f);
  for (int64_t r = 0; r < rows; ++r) {
    const Mat row = logits.rows(r);
    LINNET_ASSERT(targets[r] >= -1 && targets[r] < classes);
    if (targets[r] < 0) {
      std::fill_n(row.data, classes, 0.0f);
      continue;
    }
    const float wanted = row.data[targets[r]];
    float sum = 0;  // of the logits
    if (smoothing > 0) row_dots(1, classes, row, {ones.data(), 0}, &sum);
    float top = -std::numeric_limits<float>::infinity(), total = 0, unused;
    softmax_tile(1, classes, row, &top, &total, &unused);
    score.loss += static_cast<double>(top) + std::log(static_cast<double>(total)) - wanted;
    score.hits += wanted >= top;
    ++score.count;
    scale(classes, 1 / total, row.data);
    row.data[targets[r]] -= static_cast<float>(1 - smoothing);
    if (smoothing > 0) {
      score.loss += smoothing * (wanted - static_cast<double>(sum) / static_cast<double>(classes));
      add_scaled(classes, -everywhere, ones.data(), row.data);
    }
  }
  return score;
}

int best_class(std::span<const float> logits) {
  return static_cast<int>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

}  // namespace linnet
