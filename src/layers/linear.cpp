// linear.cpp -- y = x W + b over the kernels.
#include "layers/linear.h"

#include "kernels/gemm.h"
#include "kernels/rows.h"

namespace linnet {

Mat take_mat(Arena& arena, int64_t rows, int64_t cols) {
  const int64_t ld = leading_dim(cols);
  return {arena.take(rows * ld), ld};
}

Linear add_linear(ParamLayout& layout, const std::string& name, int64_t in, int64_t out) {
  const int64_t weight = layout.add(name + ".weight", {in, out}, Init::xavier, 1.0f, true);
  Linear linear{.matrix = layout.matrix(weight, in, out)};
  linear.bias = layout.add(name + ".bias", {out}, Init::zeros, 0.0f, false);
  return linear;
}

void matrix_forward(const Matrix& m, const Weights& weights, int64_t rows, ConstMat x, Mat y,
                    const float* bias, bool accumulate) noexcept {
  gemm(rows, m.out, m.in, rows_of(x.data, x.ld), packed(weights.packed + m.packed, m.whole_in),
       y.data, y.ld, bias, accumulate);
}

const float* pack_gradient(int64_t rows, int64_t cols, ConstMat dy, Arena& scratch) {
  float* panels = scratch.take(packed_floats(rows, cols));
  pack(rows, cols, dy.data, dy.ld, panels);
  return panels;
}

void matrix_backward_weights(const Matrix& m, int64_t rows, ConstMat x, const float* packed_dy,
                             float* grads) noexcept {
  gemm(m.in, m.out, rows, columns_of(x.data, x.ld), packed(packed_dy, rows), grads + m.weight,
       m.whole_out, nullptr, true);
}

void matrix_backward_weights(const Matrix& m, int64_t rows, ConstMat x, ConstMat dy, float* grads,
                             Arena& scratch) {
  // y = x W, so dW += x^T dy.
  if (m.out <= kPanel) {
    return gemm(m.in, m.out, rows, columns_of(x.data, x.ld), plain(dy.data, dy.ld),
                grads + m.weight, m.whole_out, nullptr, true);
  }
  // More panels are packed: 16 columns of dy lie `ld` apart, panels stream.
  Arena::Scope scope(scratch);
  matrix_backward_weights(m, rows, x, pack_gradient(rows, m.out, dy, scratch), grads);
}

void matrix_backward_input(const Matrix& m, const Weights& weights, int64_t rows, ConstMat dy,
                           Mat dx, bool accumulate) noexcept {
  // y = x W, so dx = dy W^T.
  gemm(rows, m.in, m.out, rows_of(dy.data, dy.ld),
       packed(weights.packed_transposed + m.packed_transposed, m.whole_out), dx.data, dx.ld,
       nullptr, accumulate);
}

void linear_forward(const Linear& linear, const Weights& weights, int64_t rows, ConstMat x, Mat y,
                    bool accumulate) noexcept {
  matrix_forward(linear.matrix, weights, rows, x, y, weights.params + linear.bias, accumulate);
}

void linear_backward_weights(const Linear& linear, int64_t rows, ConstMat x, ConstMat dy,
                             float* grads, Arena& scratch) {
  matrix_backward_weights(linear.matrix, rows, x, dy, grads, scratch);
  add_column_sums(rows, linear.out(), dy, grads + linear.bias);
}

void linear_backward_input(const Linear& linear, const Weights& weights, int64_t rows, ConstMat dy,
                           Mat dx, bool accumulate) noexcept {
  matrix_backward_input(linear.matrix, weights, rows, dy, dx, accumulate);
}

}  // namespace linnet
