// decay.h -- products of rows with the rows around them, each times its power of a decay.
#pragma once

#include <cstdint>

#include "core/view.h"

namespace linnet {

// Column j is at the distance j - i - offset of row i: `power` points at the power of distance 0,
// those of the columns before it in front of it. a[i,j] *= its power; sums[i] += sum_j a[i,j].
void decay_products(int64_t rows, int64_t cols, int64_t offset, const float* power, Mat a,
                    float* sums) noexcept;

// With a as it is then, and m[i,j] = da[i,j] + bias[i] what is owed to it:
//   along[i] = sum_j |j - i - offset| a[i,j] m[i,j],   da[i,j] = m[i,j] * its power.
// `distance` points at the 0 of ..., 2, 1, 0, 1, 2, ...
void decay_products_backward(int64_t rows, int64_t cols, int64_t offset, const float* power,
                             const float* distance, ConstMat a, const float* bias, Mat da,
                             float* along) noexcept;

}  // namespace linnet
