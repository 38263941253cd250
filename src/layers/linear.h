// linear.h -- y = x W + b: the layer that every other is made of.
//
// Backward of y = x W + b, all over the rows of a chunk:
//   dx = dy W^T,   dW += x^T dy,   db += sum_r dy.
// Nothing is saved but x, which the caller has.
#pragma once

#include <string>

#include "core/arena.h"
#include "core/view.h"
#include "layers/params.h"

namespace linnet {

struct Linear {
  Matrix matrix;
  int64_t bias = 0;  // offset in the parameter block
  int64_t in() const { return matrix.in; }
  int64_t out() const { return matrix.out; }
};

// Parameters NAME.weight [in, out] (Xavier) and NAME.bias [out] (zeros).
Linear add_linear(ParamLayout& layout, const std::string& name, int64_t in, int64_t out);

// y = x W + b, or y += x W + b.
void linear_forward(const Linear& linear, const Weights& weights, int64_t rows, ConstMat x, Mat y,
                    bool accumulate = false) noexcept;
// The parameters' gradients += into the block `grads`.
void linear_backward_weights(const Linear& linear, int64_t rows, ConstMat x, ConstMat dy,
                             float* grads, Arena& scratch);
// dx = dy W^T, or dx += dy W^T.
void linear_backward_input(const Linear& linear, const Weights& weights, int64_t rows, ConstMat dy,
                           Mat dx, bool accumulate = false) noexcept;

// The same three for a bare matrix.
void matrix_forward(const Matrix& m, const Weights& weights, int64_t rows, ConstMat x, Mat y,
                    const float* bias = nullptr, bool accumulate = false) noexcept;
void matrix_backward_weights(const Matrix& m, int64_t rows, ConstMat x, ConstMat dy, float* grads,
                             Arena& scratch);
// dy packed once for several matrices; matrix_backward_weights with it.
const float* pack_gradient(int64_t rows, int64_t cols, ConstMat dy, Arena& scratch);
void matrix_backward_weights(const Matrix& m, int64_t rows, ConstMat x, const float* packed_dy,
                             float* grads) noexcept;
void matrix_backward_input(const Matrix& m, const Weights& weights, int64_t rows, ConstMat dy,
                           Mat dx, bool accumulate = false) noexcept;

// A matrix of `rows` x `cols` from an arena, with a leading dimension that suits the caches.
Mat take_mat(Arena& arena, int64_t rows, int64_t cols);

}  // namespace linnet
