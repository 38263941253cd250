// pseudo_inverse.h -- Z ~ A^+ of a small matrix by six steps of an iteration, and its adjoint.
#pragma once

#include <cstdint>

#include "core/arena.h"
#include "core/view.h"

namespace linnet {

inline constexpr int kInverseSteps = 6;

// Z [m,m] of A [m,m], whose rows are probabilities.
void pseudo_inverse_forward(int64_t m, ConstMat A, Mat Z, Arena& scratch);
// dA = the gradient through Z, given dZ, which is used up.
void pseudo_inverse_backward(int64_t m, ConstMat A, Mat dZ, Mat dA, Arena& scratch);

}  // namespace linnet
