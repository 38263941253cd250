// loss.h -- softmax cross-entropy of an example, and of the tokens of one.
#pragma once

#include <cstdint>
#include <span>

#include "core/view.h"

namespace linnet {

// Returns -log p[label], p = softmax(logits), and writes dlogits = p - onehot(label).
double cross_entropy(std::span<const float> logits, int label, std::span<float> dlogits);
// The class of the largest logit, the first of equals.
int best_class(std::span<const float> logits);

// Sums over examples or tokens.
struct Score {
  double loss = 0;
  int64_t hits = 0, count = 0;
  Score& operator+=(const Score& other) {
    loss += other.loss;
    hits += other.hits;
    count += other.count;
    return *this;
  }
};

// The same for rows of logits [rows, classes], in place: they become their gradient. A row whose
// target is -1 counts nothing.
Score token_cross_entropy(int64_t rows, int64_t classes, const int32_t* targets, Mat logits);

}  // namespace linnet
