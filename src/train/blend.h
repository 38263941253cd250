// blend.h -- how much two classifiers of the same texts count in their sum.
//
// logits = a first + b second, with the a and b that minimise, over examples that neither was
// fitted on,
//   sum_i -log softmax(a u_i + b v_i)[label_i] + pull/2 ((a - 1)^2 + (b/s - 1)^2)
// for s = |u| / |v|, as the second may be of any size. It is convex, and has its end also where few
// examples are all told apart; Newton's steps,
// halved where they do not descend.
#pragma once

#include <cstdint>
#include <span>

namespace linnet {

inline constexpr double kBlendPull = 0.1;

struct Blend {
  double first = 1, second = 1;
};

// u, v: [examples, classes].
Blend fit_blend(int64_t classes, std::span<const float> u, std::span<const float> v,
                std::span<const int> labels);

}  // namespace linnet
