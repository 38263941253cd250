// logistic.h -- logistic regression on sparse rows of 0 and 1, each feature with a scale of its
// own.
//
// A row i has the features F_i, each worth its scale r_j, and a label y_i = 1 or -1. With u_j = w_j
// r_j,
//   margin_i = y_i (b + sum_(j in F_i) u_j)
//   minimise 1/2 (b^2 + sum_j (u_j / r_j)^2) + strength sum_i log(1 + exp(-margin_i))
// by coordinate descent in the dual (Yu, Huang and Lin, "Dual coordinate descent methods for
// logistic regression and maximum entropy models", 2011). At the optimum w = sum_i a_i y_i x_i with
// a_i = strength sigmoid(-margin_i); one row after the other is made to fulfil that for itself.
// Cost: a pass is two walks over all rows; features with r_j = 0 keep u_j = 0.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace linnet {

class SparseRows {
 public:
  void add(std::span<const uint32_t> features) {
    features_.insert(features_.end(), features.begin(), features.end());
    ends_.push_back(features_.size());
  }
  size_t size() const { return ends_.size(); }
  std::span<const uint32_t> row(size_t i) const {
    const size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::span(features_).subspan(begin, ends_[i] - begin);
  }

 private:
  std::vector<uint32_t> features_;
  std::vector<size_t> ends_;
};

struct LogisticOptions {
  double strength = 1;      // of the loss against the penalty
  double tolerance = 0.05;  // of a_i, as the largest |margin_i - its own|
  int passes = 100;         // at most
  uint64_t seed = 1;        // of the order of the rows
};

struct LogisticModel {
  std::vector<float> weights;  // u
  double bias = 0;
  // b + sum of u.
  double score(std::span<const uint32_t> features) const;
};

// One thread; the same bits every time.
LogisticModel fit_logistic(const SparseRows& rows, std::span<const uint8_t> positive,
                           std::span<const float> scales, const LogisticOptions& options);

}  // namespace linnet
