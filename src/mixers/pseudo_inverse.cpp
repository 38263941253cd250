// pseudo_inverse.cpp -- the iterative pseudo-inverse of Nystromformer.
//
// Forward, all [m,m]: Z_0 = A^T / (largest row sum * largest column sum), where rows sum to 1, and
//   Z_{n+1} = 1/4 Z_n (13 I - A Z_n (15 I - A Z_n (7 I - A Z_n)))
// With the rest E = I - A Z this is Z_{n+1} = Z (I + E + E^2 + E^3 / 4): the same polynomial, but
// Z is corrected rather than made anew, which rounds less. By Horner:
//   Q = I + E / 4,   G = I + E Q,   P = E G,   Z_{n+1} = Z + Z P
// Backward, given g = dL/dZ_{n+1}:
//   dP = Z^T g,   dG = E^T dP,   dE = dP G^T + dG Q^T + E^T dG / 4
//   dZ_n = g + g P^T - A^T dE,   dA -= dE Z^T
// and dA += dZ_0^T / c at the start. The constant c = the largest column sum is held fixed: where
// the iteration has converged, Z does not depend on it. Cost: 8 m^3 a step, 28 m^3 in the backward,
// which has the six Z again instead of keeping them. Paper: Xiong et al. 2021; Razavi et al. 2014.
#include "mixers/pseudo_inverse.h"

#include <algorithm>
#include <vector>

#include "kernels/gemm.h"
#include "kernels/rows.h"
#include "layers/linear.h"

namespace linnet {
namespace {

float largest_column_sum(int64_t m, ConstMat A) {
  std::vector<float> sums(static_cast<size_t>(m));
  add_column_sums(m, m, A, sums.data());
  return *std::max_element(sums.begin(), sums.end());
}

// y = a x^T, or y += a x^T.
void put_transposed(int64_t m, float a, ConstMat x, Mat y, bool accumulate) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < m; ++j) {
      y.row(i)[j] = a * x.row(j)[i] + (accumulate ? y.row(i)[j] : 0.0f);
    }
  }
}

// y = a x + I.
void add_identity(int64_t m, float a, ConstMat x, Mat y) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < m; ++j) y.row(i)[j] = a * x.row(i)[j];
    y.row(i)[i] += 1.0f;
  }
}

// y = a b, or y += a b; and the same with a or b transposed.
void times(int64_t m, ConstMat a, ConstMat b, Mat y, bool accumulate = false) {
  gemm(m, m, m, rows_of(a.data, a.ld), plain(b.data, b.ld), y.data, y.ld, nullptr, accumulate);
}
void transposed_times(int64_t m, ConstMat a, ConstMat b, Mat y, bool accumulate = false) {
  gemm(m, m, m, columns_of(a.data, a.ld), plain(b.data, b.ld), y.data, y.ld, nullptr, accumulate);
}
void times_transposed(int64_t m, ConstMat a, ConstMat b, Mat y, Arena& scratch,
                      bool accumulate = false) {
  Arena::Scope scope(scratch);
  float* panels = scratch.take(packed_floats(m, m));
  pack_transposed(m, m, b.data, b.ld, panels);
  gemm(m, m, m, rows_of(a.data, a.ld), packed(panels, m), y.data, y.ld, nullptr, accumulate);
}

// The matrices of one step.
struct Step {
  Mat E, Q, G, P;
  Step(int64_t m, Arena& scratch)
      : E(take_mat(scratch, m, m)),
        Q(take_mat(scratch, m, m)),
        G(take_mat(scratch, m, m)),
        P(take_mat(scratch, m, m)) {}
  void compute(int64_t m, ConstMat A, ConstMat Z) {
    times(m, A, Z, P);
    add_identity(m, -1.0f, P, E);
    add_identity(m, 0.25f, E, Q);
    times(m, E, Q, P);
    add_identity(m, 1.0f, P, G);
    times(m, E, G, P);
  }
};

void start(int64_t m, ConstMat A, Mat Z) {
  put_transposed(m, 1.0f / largest_column_sum(m, A), A, Z, false);
}

}  // namespace

void pseudo_inverse_forward(int64_t m, ConstMat A, Mat Z, Arena& scratch) {
  Arena::Scope scope(scratch);
  Step step(m, scratch);
  const Mat before = take_mat(scratch, m, m);
  start(m, A, Z);
  for (int n = 0; n < kInverseSteps; ++n) {
    step.compute(m, A, Z);
    copy_rows(m, m, Z, before);
    times(m, before, step.P, Z, true);
  }
}

void pseudo_inverse_backward(int64_t m, ConstMat A, Mat dZ, Mat dA, Arena& scratch) {
  Arena::Scope scope(scratch);
  Step step(m, scratch);
  std::vector<Mat> Z;
  for (int n = 0; n < kInverseSteps; ++n) {
    Z.push_back(take_mat(scratch, m, m));
    if (n == 0) {
      start(m, A, Z[0]);
      continue;
    }
    const Mat before = Z[static_cast<size_t>(n - 1)];
    step.compute(m, A, before);
    copy_rows(m, m, before, Z.back());
    times(m, before, step.P, Z.back(), true);
  }
  const Mat dP = take_mat(scratch, m, m), dG = take_mat(scratch, m, m),
            dE = take_mat(scratch, m, m), g = take_mat(scratch, m, m);
  for (int64_t i = 0; i < m; ++i) std::fill_n(dA.row(i), m, 0.0f);
  for (int n = kInverseSteps - 1; n >= 0; --n) {
    const Mat before = Z[static_cast<size_t>(n)];
    step.compute(m, A, before);
    copy_rows(m, m, dZ, g);
    // Z' = Z + Z P, P = E G, G = I + E Q and Q = I + E / 4, so:
    times_transposed(m, g, step.P, dZ, scratch, true);
    transposed_times(m, before, g, dP);
    transposed_times(m, step.E, dP, dG);
    transposed_times(m, step.E, dG, dE);
    scale(m * dE.ld, 0.25f, dE.data);
    times_transposed(m, dP, step.G, dE, scratch, true);
    times_transposed(m, dG, step.Q, dE, scratch, true);
    // E = I - A Z, so dZ -= A^T dE and dA -= dE Z^T.
    scale(m * dE.ld, -1.0f, dE.data);
    transposed_times(m, A, dE, dZ, true);
    times_transposed(m, dE, before, dA, scratch, true);
  }
  put_transposed(m, 1.0f / largest_column_sum(m, A), dZ, dA, true);
}

}  // namespace linnet
