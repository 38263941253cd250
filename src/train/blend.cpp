// blend.cpp -- Newton's method in a few numbers.
#include "train/blend.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"

namespace linnet {
namespace {

using Numbers = std::vector<double>;

struct Slope {
  explicit Slope(size_t parts) : first(parts), second(parts * parts) {}
  double value = 0;
  Numbers first, second;  // derivatives
};

// Of the parts times their sizes.
Slope slope_at(const Numbers& at, const Numbers& sizes, size_t classes,
               std::span<const std::vector<float>> parts, std::span<const int> labels) {
  const size_t K = parts.size();
  Slope s(K);
  for (size_t k = 0; k < K; ++k) {
    s.value += kBlendPull / 2 * (at[k] - 1) * (at[k] - 1);
    s.first[k] = kBlendPull * (at[k] - 1);
    s.second[k * K + k] = kBlendPull;
  }
  Numbers p(classes), mean(K);
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto said = [&](size_t k, size_t c) {
      return sizes[k] * double{parts[k][i * classes + c]};
    };
    std::ranges::fill(p, 0.0);
    for (size_t k = 0; k < K; ++k) {
      for (size_t c = 0; c < classes; ++c) p[c] += at[k] * said(k, c);
    }
    const auto label = static_cast<size_t>(labels[i]);
    const double top = *std::ranges::max_element(p), target = p[label];
    double sum = 0;
    for (double& x : p) sum += x = std::exp(x - top);
    for (double& x : p) x /= sum;
    s.value += std::log(sum) + top - target;
    // Means over the classes, weighed by their probabilities.
    for (size_t k = 0; k < K; ++k) {
      mean[k] = 0;
      for (size_t c = 0; c < classes; ++c) mean[k] += p[c] * said(k, c);
      s.first[k] += mean[k] - said(k, label);
    }
    for (size_t j = 0; j < K; ++j) {
      for (size_t k = 0; k < K; ++k) {
        for (size_t c = 0; c < classes; ++c)
          s.second[j * K + k] += p[c] * (said(j, c) - mean[j]) * (said(k, c) - mean[k]);
      }
    }
  }
  return s;
}

// Newton's step in the weights that may move: those at zero that descend below it may not. By
// elimination: the pull keeps the matrix positive definite.
Numbers step_down(const Numbers& at, const Slope& slope) {
  const size_t K = at.size();
  Numbers first = slope.first, second = slope.second;
  for (size_t j = 0; j < K; ++j) {
    if (at[j] > 0 || first[j] <= 0) continue;
    for (size_t k = 0; k < K; ++k) second[j * K + k] = second[k * K + j] = j == k;
    first[j] = 0;
  }
  for (size_t j = 0; j < K; ++j) {
    for (size_t i = j + 1; i < K; ++i) {
      const double times = second[i * K + j] / second[j * K + j];
      for (size_t k = j; k < K; ++k) second[i * K + k] -= times * second[j * K + k];
      first[i] -= times * first[j];
    }
  }
  for (size_t j = K; j-- > 0;) {
    for (size_t k = j + 1; k < K; ++k) first[j] -= second[j * K + k] * first[k];
    first[j] /= second[j * K + j];
  }
  return first;
}

}  // namespace

std::vector<double> fit_blend(int64_t classes, std::span<const std::vector<float>> parts,
                              std::span<const int> labels) {
  const size_t K = parts.size();
  Numbers sizes(K, 1);
  const auto length = [](const auto& x) {
    return std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
  };
  const double first = length(parts[0]);
  for (size_t k = 0; k < K; ++k) {
    LINNET_ASSERT(parts[k].size() == labels.size() * static_cast<size_t>(classes));
    const double own = length(parts[k]);
    if (first > 0 && own > 0) sizes[k] = first / own;
  }
  const auto at = [&](const Numbers& a) {
    return slope_at(a, sizes, static_cast<size_t>(classes), parts, labels);
  };
  Numbers best(K, 1);
  Slope s = at(best);
  for (int step = 0; step < 50; ++step) {
    const Numbers down = step_down(best, s);
    double size = 1;
    Numbers next = best;
    Slope there(K);
    do {
      for (size_t k = 0; k < K; ++k) next[k] = std::max(best[k] - size * down[k], 0.0);
      there = at(next);
      size /= 2;
    } while (!(there.value <= s.value) && size > 1e-6);
    if (!(there.value < s.value)) break;
    best = next;
    s = there;
    if (length(down) < 1e-9) break;
  }
  for (size_t k = 0; k < K; ++k) best[k] *= sizes[k];
  return best;
}

}  // namespace linnet
