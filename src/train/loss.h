// loss.h -- softmax cross-entropy of one example.
#pragma once

#include <span>

namespace linnet {

// Returns -log p[label], p = softmax(logits), and writes dlogits = p - onehot(label).
double cross_entropy(std::span<const float> logits, int label, std::span<float> dlogits);
// The class of the largest logit, the first of equals.
int best_class(std::span<const float> logits);

}  // namespace linnet
