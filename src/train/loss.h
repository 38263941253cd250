// loss.h -- what training minimises: softmax cross-entropy of an example or of its tokens, and
// binary cross-entropy where an example has many labels.
//
// Softmax, p = softmax(z), label y, smoothing s (Szegedy et al. 2016): the target is
//   t = (1 - s) onehot(y) + s / classes,   loss = -sum_c t_c log p_c,   dz = p - t.
// Sigmoid, p_c = 1 / (1 + exp(-z_c)), t_c = 1 for the true classes:
//   loss = -mean_c (t_c log p_c + (1 - t_c) log(1 - p_c)),   dz_c = (p_c - t_c) / classes.
#pragma once

#include <cstdint>
#include <span>

#include "core/view.h"
#include "data/example.h"
#include "models/model.h"

namespace linnet {

// Sums over examples or tokens. A hit: the most probable class is the true one; with many labels
// all classes are decided rightly at p > 0.5 (exact match).
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

// The loss of one label; writes dlogits.
double cross_entropy(std::span<const float> logits, int label, double smoothing,
                     std::span<float> dlogits);
// The loss of many labels, given the true classes; writes dlogits.
double binary_cross_entropy(std::span<const float> logits, std::span<const int32_t> classes,
                            std::span<float> dlogits);
// Of one example of a classifier or matcher, by the model's loss; writes dlogits.
Score example_loss(const Model& model, const Example& example, double smoothing,
                   std::span<const float> logits, std::span<float> dlogits);

// The softmax loss for rows of logits [rows, classes], in place: they become their gradient. A row
// whose target is -1 counts nothing.
Score token_cross_entropy(int64_t rows, int64_t classes, const int32_t* targets, double smoothing,
                          Mat logits);

// The class of the largest logit, the first of equals.
int best_class(std::span<const float> logits);

}  // namespace linnet
