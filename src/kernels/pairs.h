// pairs.h -- elementwise functions of two matrices: gates and products, with their derivatives.
#pragma once

#include <complex>
#include <cstdint>

#include "core/view.h"

namespace linnet {

enum class Pair {
  product,           // a b
  softplus_product,  // Softplus(a b)
  glu,               // a sigmoid(b)
  positive_glu,      // Softplus(a) sigmoid(b)
  swiglu,            // a sigmoid(a) b
};

// y = f(a, b); y may be a or b.
void pair_forward(Pair f, int64_t rows, int64_t cols, ConstMat a, ConstMat b, Mat y) noexcept;
// da = dy df/da, db = dy df/db, and y once more where it is not null; da, db and y may be a, b and
// dy.
void pair_backward(Pair f, int64_t rows, int64_t cols, ConstMat a, ConstMat b, ConstMat dy, Mat y,
                   Mat da, Mat db) noexcept;

// The definition, for tests.
std::complex<double> exact_pair(Pair f, std::complex<double> a, std::complex<double> b);

}  // namespace linnet
