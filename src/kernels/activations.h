// activations.h -- elementwise functions and their derivatives over a matrix of `rows` x `cols`.
#pragma once

#include <cstdint>

#include "core/view.h"

namespace linnet {

// y = gelu(x), tanh form.
void gelu_forward(int64_t rows, int64_t cols, ConstMat x, Mat y) noexcept;
// y = gelu(x) again and dx = dy * gelu'(x), in one pass; y may be null; dx may be dy.
void gelu_backward(int64_t rows, int64_t cols, ConstMat x, ConstMat dy, Mat y, Mat dx) noexcept;

// y = 1 / (1 + exp(-x)); y may be x.
void sigmoid_forward(int64_t rows, int64_t cols, ConstMat x, Mat y) noexcept;
// dx = dy * y * (1 - y): the derivative from the value; dx may be dy.
void sigmoid_backward(int64_t rows, int64_t cols, ConstMat y, ConstMat dy, Mat dx) noexcept;

// y = log(1 + exp(x)); y may be x.
void softplus_forward(int64_t rows, int64_t cols, ConstMat x, Mat y) noexcept;
// dx = dy * (1 - exp(-y)): the derivative from the value; dx may be dy.
void softplus_backward(int64_t rows, int64_t cols, ConstMat y, ConstMat dy, Mat dx) noexcept;

// y = elu(x) + 1 = x + 1 above 0, exp(x) below; y may be x.
void elu1_forward(int64_t rows, int64_t cols, ConstMat x, Mat y) noexcept;
// dx = dy * min(y, 1): the derivative from the value; dx may be dy.
void elu1_backward(int64_t rows, int64_t cols, ConstMat y, ConstMat dy, Mat dx) noexcept;

// y = max(x, 0); y may be x.
void relu_forward(int64_t rows, int64_t cols, ConstMat x, Mat y) noexcept;
// dx = dy where y > 0, else 0; dx may be dy.
void relu_backward(int64_t rows, int64_t cols, ConstMat y, ConstMat dy, Mat dx) noexcept;

// y = x^2; y may be x.
void square_forward(int64_t rows, int64_t cols, ConstMat x, Mat y) noexcept;
// dx = dy * 2 x; dx may be dy.
void square_backward(int64_t rows, int64_t cols, ConstMat x, ConstMat dy, Mat dx) noexcept;

// y = max(x, 0)^2; y may be x.
void relu2_forward(int64_t rows, int64_t cols, ConstMat x, Mat y) noexcept;
// dx = dy * 2 max(x, 0); dx may be dy.
void relu2_backward(int64_t rows, int64_t cols, ConstMat x, ConstMat dy, Mat dx) noexcept;

// y = exp(x - shift[r]); y may be x.
void exp_forward(int64_t rows, int64_t cols, ConstMat x, const float* shift, Mat y) noexcept;

// x *= keep / (1 - rate), keep drawn from (key, r, c) alone: the same call with the same key on a
// gradient is the backward. first_row is the row's place in its sequence, so chunks do not matter.
// rate in [0, 1).
void dropout(int64_t rows, int64_t cols, Mat x, float rate, uint64_t key,
             int64_t first_row) noexcept;

}  // namespace linnet
