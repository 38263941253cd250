// loss.cpp -- softmax cross-entropy, in double: a handful of numbers an example.
#include "train/loss.h"

#include <algorithm>
#include <cmath>

namespace linnet {

double cross_entropy(std::span<const float> logits, int label, std::span<float> dlogits) {
  const double top = *std::max_element(logits.begin(), logits.end());
  double total = 0;
  for (float x : logits) total += std::exp(x - top);
  const double lse = top + std::log(total);
  for (size_t i = 0; i < logits.size(); ++i) {
    dlogits[i] =
        static_cast<float>(std::exp(logits[i] - lse) - (static_cast<int>(i) == label ? 1 : 0));
  }
  return lse - logits[static_cast<size_t>(label)];
}

int best_class(std::span<const float> logits) {
  return static_cast<int>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

}  // namespace linnet
