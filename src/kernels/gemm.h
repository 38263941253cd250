// gemm.h -- matrix products: one kernel for the forward, input gradient and weight gradient forms.
#pragma once

#include <cstdint>

namespace linnet {

// Columns of B that a tile covers.
inline constexpr int64_t kPanel = 16;

// The left operand: element (i, k) at data[i * row_stride + k * k_stride].
struct GemmA {
  const float* data;
  int64_t row_stride, k_stride;
};
inline GemmA rows_of(const float* data, int64_t ld) { return {data, ld, 1}; }
inline GemmA columns_of(const float* data, int64_t ld) { return {data, 1, ld}; }  // A = data^T

// The right operand: element (k, j) at data[(j / 16) * panel_stride + k * k_stride + j % 16].
struct GemmB {
  const float* data;
  int64_t k_stride, panel_stride;
  // Row k of the panel that begins with column j.
  const float* at(int64_t k, int64_t j) const {
    return data + j / kPanel * panel_stride + k * k_stride;
  }
};
inline GemmB plain(const float* data, int64_t ld) { return {data, ld, kPanel}; }
inline GemmB packed(const float* data, int64_t K) { return {data, kPanel, kPanel * K}; }

inline int64_t packed_floats(int64_t K, int64_t N) {
  return (N + kPanel - 1) / kPanel * kPanel * K;
}

// Panels of B [K,N], and of the transpose of W [N,K], padded with zeros.
void pack(int64_t K, int64_t N, const float* B, int64_t ldb, float* out) noexcept;
void pack_transposed(int64_t K, int64_t N, const float* W, int64_t ldw, float* out) noexcept;

// C [M,N] = A [M,K] B [K,N] + bias [N] (bias may be null), or C += A B + bias.
// The sum over k runs in order with fused multiply-adds for every element, so a row of C does not
// depend on which other rows are computed with it: a batch gives bit for bit what one by one gives.
void gemm(int64_t M, int64_t N, int64_t K, GemmA A, GemmB B, float* C, int64_t ldc,
          const float* bias = nullptr, bool accumulate = false) noexcept;

// FLOP/s that this thread sustains on independent fused multiply-adds in registers: the limit that
// gemm is measured against, lower while the core is shared.
double peak_flops(double seconds) noexcept;

}  // namespace linnet
