// blend.h -- how much several classifiers of the same texts count in their sum.
//
// logits = sum_k a_k part_k, with the a that minimise, over examples that none was fitted on,
//   sum_i -log softmax(sum_k a_k u_ki)[label_i] + pull/2 sum_k (a_k / s_k - 1)^2
// for s_k = |u_0| / |u_k|, as the parts may be of any size, and a_k >= 0: what seems wrong on few
// examples more often than not is chance, and turned round it would be wrong on all that it knows.
// It is convex, and has its end also where few examples are all told apart; Newton's steps, cut off
// at zero and halved where they do not descend.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace linnet {

inline constexpr double kBlendPull = 0.1;

// The weight of each part; parts: [examples, classes].
std::vector<double> fit_blend(int64_t classes, std::span<const std::vector<float>> parts,
                              std::span<const int> labels);

}  // namespace linnet
