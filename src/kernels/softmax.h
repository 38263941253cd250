// softmax.h -- rows of scores to probabilities: whole rows, tile by tile, and the adjoint.
#pragma once

#include <cstdint>

#include "core/view.h"

namespace linnet {

// Softmax over each row, in place.
void softmax_rows(int64_t rows, int64_t cols, Mat x) noexcept;

// One more tile of scores of each row, with m the row's maximum and l = sum exp(score - m) so far:
// the tile becomes exp(score - m) for the new m, and factor[r] is what earlier results must be
// multiplied by.
void softmax_tile(int64_t rows, int64_t cols, Mat scores, float* m, float* l,
                  float* factor) noexcept;
// p = exp(score - lse[r]), in place.
void softmax_again(int64_t rows, int64_t cols, Mat scores, const float* lse) noexcept;
// ds = p (dp - delta[r]), in place of dp; delta = sum_j p_j dp_j.
void softmax_backward(int64_t rows, int64_t cols, ConstMat p, const float* delta, Mat dp) noexcept;

}  // namespace linnet
