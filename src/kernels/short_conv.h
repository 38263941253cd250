// short_conv.h -- a short convolution over the rows of a matrix, each column with its own weights.
#pragma once

#include <cstdint>

#include "core/view.h"

namespace linnet {

// y[r,:] = sum_{j < taps} weight[j,:] * x[r-j,:], so rows -(taps-1) .. -1 of x are read as well.
// y may be x.
void convolve(int64_t rows, int64_t cols, int64_t taps, const float* weight, ConstMat x,
              Mat y) noexcept;
// dweight[j,:] += sum_r dy[r,:] * x[r-j,:].
void convolve_backward_weights(int64_t rows, int64_t cols, int64_t taps, ConstMat x, ConstMat dy,
                               float* dweight) noexcept;

}  // namespace linnet
