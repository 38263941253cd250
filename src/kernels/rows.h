// rows.h -- sums, scalings and norms over the rows of a matrix, each in a fixed order.
#pragma once

#include <cstdint>

#include "core/view.h"

namespace linnet {

// y += x, y += a x, y *= a, y += a (x - y).
void add(int64_t n, const float* x, float* y) noexcept;
void add_scaled(int64_t n, float a, const float* x, float* y) noexcept;
void scale(int64_t n, float a, float* y) noexcept;
void approach(int64_t n, float a, const float* x, float* y) noexcept;
// y [rows,cols] += x.
void add_rows(int64_t rows, int64_t cols, ConstMat x, Mat y) noexcept;
// y = x, rows to rows.
void copy_rows(int64_t rows, int64_t cols, ConstMat x, Mat y) noexcept;
// Sum of squares in double.
double sum_of_squares(int64_t n, const float* x) noexcept;

// out [cols] += the sum of the rows of x.
void add_column_sums(int64_t rows, int64_t cols, ConstMat x, float* out) noexcept;
// out [cols] = the largest of the rows of x, of which there is at least one.
void column_max(int64_t rows, int64_t cols, ConstMat x, float* out) noexcept;
// Its backward: dx += dy [cols] in the first row that has the column's `largest`.
void column_max_backward(int64_t rows, int64_t cols, ConstMat x, const float* largest,
                         const float* dy, Mat dx) noexcept;
// out [cols] += sum_r weight[r] x[r,:].
void add_weighted_rows(int64_t rows, int64_t cols, const float* weight, ConstMat x,
                       float* out) noexcept;
// y[r,:] += weight[r] x.
void add_outer(int64_t rows, int64_t cols, const float* weight, const float* x, Mat y) noexcept;
// out[r] = x[r,:] . y[r,:], with y.ld = 0 for one y for all rows.
void row_dots(int64_t rows, int64_t cols, ConstMat x, ConstMat y, float* out) noexcept;
// y[r,:] = x[r,:] * factor[r].
void scale_rows(int64_t rows, int64_t cols, ConstMat x, const float* factor, Mat y) noexcept;

// LayerNorm: y = (x - mean) * rstd * weight + bias, rstd = 1 / sqrt(variance + eps); mean and rstd
// of each row are recomputed in the backward from x: cheaper than the memory.
void layer_norm_forward(int64_t rows, int64_t cols, ConstMat x, const float* weight,
                        const float* bias, float eps, Mat y) noexcept;
// With xhat = (x - mean) rstd and g = dy weight:
//   dx += rstd (g - mean(g) - xhat mean(g xhat)),   dweight += sum_r dy xhat,   dbias += sum_r dy.
void layer_norm_backward(int64_t rows, int64_t cols, ConstMat x, const float* weight, float eps,
                         ConstMat dy, Mat dx, float* dweight, float* dbias) noexcept;

}  // namespace linnet
