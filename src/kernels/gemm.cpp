// gemm.cpp -- the one file that knows how a matrix product is tiled.
//
// A tile of C is kept in registers: 6 x 16 on AVX2 (12 accumulators, 2 vectors of B, 1 broadcast of
// A: 15 of 16 registers; 12 fused multiply-adds hide 4 cycles of latency on two ports with room to
// spare), 12 x 16 on AVX-512, 3 x 16 on 128-bit vectors. K is cut into blocks of 256 so that a
// panel of B (16 KiB) stays in L1 while the rows of A stream from L2.
#include "kernels/gemm.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "kernels/few_columns.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace linnet::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kBlockK = 256;
using Tag = hn::CappedTag<float, kPanel>;
using Half = hn::CappedTag<float, kPanel / 2>;  // of AVX-512, for heads of width 8; else as Tag
template <class D>
constexpr int kLanesOf = static_cast<int>(hn::MaxLanes(D()));
constexpr int kLanes = kLanesOf<Tag>, kVecs = kPanel / kLanes;
constexpr int kTileRows = kLanes == 16 ? 12 : kLanes == 8 ? 6 : kLanes == 4 ? 3 : 1;
// Rows of a tile of V vectors: one alone has twice as many, or there would be too few independent
// sums.
template <int V>
constexpr int kRowsOf = V == 1 && kVecs > 1 ? 2 * kTileRows : kTileRows;

// C tile [R,V vectors] = (accumulate ? C : 0) + bias + A B over K. kUnit: A's rows are adjacent
// (k_stride arbitrary), else its k are; a compile-time stride saves address registers.
template <class D, int V, bool kUnit, int R>
HWY_INLINE void tile(int64_t K, const float* HWY_RESTRICT a, int64_t stride,
                     const float* HWY_RESTRICT b, int64_t b_stride, float* HWY_RESTRICT c,
                     int64_t ldc, const float* bias, bool accumulate) {
  constexpr int kLane = kLanesOf<D>;
  using Vec = hn::Vec<D>;
  const D d;
  Vec sum[R][V];
  for (int v = 0; v < V; ++v) {
    const Vec start = bias ? hn::LoadU(d, bias + v * kLane) : hn::Zero(d);
    for (int r = 0; r < R; ++r) sum[r][v] = start;
  }
  // C is added at the end: by then it has come from L2 or L3 while the products were computed.
  for (int r = 0; r < R; ++r) hwy::Prefetch(c + r * ldc);
    // Unrolled, so that the end of the loop lies within the history of the branch predictor: a miss
    // once a tile drains the pipeline (measured: 2% of a whole model).
#pragma GCC unroll 8
  for (int64_t k = 0; k < K; ++k) {
    Vec right[V];
    for (int v = 0; v < V; ++v) right[v] = hn::LoadU(d, b + v * kLane);
    for (int r = 0; r < R; ++r) {
      const Vec left = hn::Set(d, kUnit ? a[r] : a[r * stride]);
      for (int v = 0; v < V; ++v) sum[r][v] = hn::MulAdd(left, right[v], sum[r][v]);
    }
    a += kUnit ? stride : 1;
    b += b_stride;
  }
  for (int r = 0; r < R; ++r) {
    for (int v = 0; v < V; ++v) {
      float* out = c + r * ldc + v * kLane;
      hn::StoreU(accumulate ? hn::Add(sum[r][v], hn::LoadU(d, out)) : sum[r][v], d, out);
    }
  }
}

template <class D, int V, bool kUnit, int R = kRowsOf<V>>
void tile_rows(int rows, int64_t K, const float* a, int64_t stride, const float* b,
               int64_t b_stride, float* c, int64_t ldc, const float* bias, bool accumulate) {
  if constexpr (R > 0) {
    if (rows == R) return tile<D, V, kUnit, R>(K, a, stride, b, b_stride, c, ldc, bias, accumulate);
    return tile_rows<D, V, kUnit, R - 1>(rows, K, a, stride, b, b_stride, c, ldc, bias, accumulate);
  }
}

// Rows of the next tile. The last two share theirs evenly: a tail of one or two rows would run at a
// fraction of the speed.
template <int V>
int next_tile(int64_t left) {
  constexpr int kMost = kRowsOf<V>;
  const bool share = left > kMost && left < 2 * kMost;
  return static_cast<int>(share ? (left + 1) / 2 : std::min<int64_t>(left, kMost));
}

// V vectors of columns of B against all rows of A.
template <class D, int V, bool kUnit>
void panel(int64_t M, int64_t K, const float* a, int64_t stride, const float* b, int64_t b_stride,
           float* c, int64_t ldc, const float* bias, bool accumulate) {
  const int64_t a_row = kUnit ? 1 : stride;
  for (int64_t i = 0; i < M;) {
    const int rows = next_tile<V>(M - i);
    tile_rows<D, V, kUnit>(rows, K, a + i * a_row, stride, b, b_stride, c + i * ldc, ldc, bias,
                           accumulate);
    i += rows;
  }
}

// Whole vectors of columns, a panel at most.
template <class D, bool kUnit, int V = kPanel / kLanesOf<D>>
void whole_vectors(int64_t vectors, int64_t M, int64_t K, const float* a, int64_t stride,
                   const float* b, int64_t b_stride, float* c, int64_t ldc, const float* bias,
                   bool accumulate) {
  if constexpr (V > 0) {
    if (vectors == V)
      return panel<D, V, kUnit>(M, K, a, stride, b, b_stride, c, ldc, bias, accumulate);
    return whole_vectors<D, kUnit, V - 1>(vectors, M, K, a, stride, b, b_stride, c, ldc, bias,
                                          accumulate);
  }
}

// Columns that are no whole vectors: B and bias are padded, C goes through a buffer, 64 rows at a
// time.
template <bool kUnit>
HWY_NOINLINE void odd_columns(int64_t M, int64_t N, int64_t K, const float* a, int64_t stride,
                              const float* b, int64_t b_stride, float* c, int64_t ldc,
                              const float* bias, bool accumulate) {
  constexpr int64_t kRows = 64;
  HWY_ALIGN float right[kBlockK * kPanel], out[kRows * kPanel], start[kPanel] = {};
  for (int64_t k = 0; k < K; ++k) pad_few(N, b + k * b_stride, right + k * kPanel);
  if (bias) pad_few(N, bias, start);
  for (int64_t i = 0; i < M; i += kRows) {
    const int64_t rows = std::min(kRows, M - i);
    for (int64_t r = 0; accumulate && r < rows; ++r)
      pad_few(N, c + (i + r) * ldc, out + r * kPanel);
    whole_vectors<Tag, kUnit>((N + kLanes - 1) / kLanes, rows, K, a + i * (kUnit ? 1 : stride),
                              stride, right, kPanel, out, kPanel, bias ? start : nullptr,
                              accumulate);
    for (int64_t r = 0; r < rows; ++r) copy_few(N, out + r * kPanel, c + (i + r) * ldc);
  }
}

// The last panel, of fewer than 16 columns.
template <bool kUnit>
void narrow_panel(int64_t M, int64_t N, int64_t K, const float* a, int64_t stride, const float* b,
                  int64_t b_stride, float* c, int64_t ldc, const float* bias, bool accumulate) {
  if (N % kLanesOf<Half> == 0) {
    whole_vectors<Half, kUnit>(N / kLanesOf<Half>, M, K, a, stride, b, b_stride, c, ldc, bias,
                               accumulate);
  } else {
    odd_columns<kUnit>(M, N, K, a, stride, b, b_stride, c, ldc, bias, accumulate);
  }
}

// Form A^T B, the weight gradients: rows outside, panels inside, so that the six columns of A stay
// in L1, C is written along its rows, and B streams.
void gemm_columns(int64_t M, int64_t N, int64_t K, const float* a, int64_t stride, const GemmB& B,
                  float* C, int64_t ldc, const float* bias, bool accumulate) {
  for (int64_t k = 0; k < K || k == 0; k += kBlockK) {
    const int64_t depth = std::min(kBlockK, K - k);
    const bool add = accumulate || k > 0;
    const int64_t whole = N / kPanel * kPanel;
    for (int64_t i = 0; i < M;) {
      const int rows = next_tile<kVecs>(M - i);
      for (int64_t j = 0; j < whole; j += kPanel) {
        tile_rows<Tag, kVecs, true>(rows, depth, a + k * stride + i, stride, B.at(k, j), B.k_stride,
                                    C + i * ldc + j, ldc, bias && k == 0 ? bias + j : nullptr, add);
      }
      i += rows;
    }
    if (whole < N) {
      narrow_panel<true>(M, N - whole, depth, a + k * stride, stride, B.at(k, whole), B.k_stride,
                         C + whole, ldc, bias && k == 0 ? bias + whole : nullptr, add);
    }
  }
}

void gemm_rows(int64_t M, int64_t N, int64_t K, const float* a, int64_t stride, const GemmB& B,
               float* C, int64_t ldc, const float* bias, bool accumulate) {
  for (int64_t k = 0; k < K || k == 0; k += kBlockK) {
    const int64_t depth = std::min(kBlockK, K - k);
    const float* left = a + k;
    for (int64_t j = 0; j < N; j += kPanel) {
      const float* right = B.at(k, j);
      const float* start = bias && k == 0 ? bias + j : nullptr;
      if (N - j >= kPanel) {
        panel<Tag, kVecs, false>(M, depth, left, stride, right, B.k_stride, C + j, ldc, start,
                                 accumulate || k > 0);
      } else {
        narrow_panel<false>(M, N - j, depth, left, stride, right, B.k_stride, C + j, ldc, start,
                            accumulate || k > 0);
      }
    }
  }
}

void Gemm(int64_t M, int64_t N, int64_t K, const GemmA& A, const GemmB& B, float* C, int64_t ldc,
          const float* bias, bool accumulate) {
  if (A.row_stride == 1 && A.k_stride != 1) {
    gemm_columns(M, N, K, A.data, A.k_stride, B, C, ldc, bias, accumulate);
  } else {
    gemm_rows(M, N, K, A.data, A.row_stride, B, C, ldc, bias, accumulate);
  }
}

// 12 independent chains, as in a tile, from registers alone.
double FmaLoop(int64_t rounds) {
  using Vec = hn::Vec<Tag>;
  const Tag d;
  constexpr int kChains = 12;
  Vec sum[kChains];
  for (int i = 0; i < kChains; ++i) sum[i] = hn::Set(d, 1.0f + static_cast<float>(i));
  const Vec x = hn::Set(d, 0.999f), y = hn::Set(d, 0.001f);
  for (int64_t n = 0; n < rounds; ++n) {
    for (int i = 0; i < kChains; ++i) sum[i] = hn::MulAdd(sum[i], x, y);
  }
  Vec total = sum[0];
  for (int i = 1; i < kChains; ++i) total = hn::Add(total, sum[i]);
  volatile float keep = hn::GetLane(total);
  (void)keep;
  return 2.0 * kChains * kLanes * static_cast<double>(rounds);
}

}  // namespace linnet::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet {

HWY_EXPORT(Gemm);
HWY_EXPORT(FmaLoop);

void gemm(int64_t M, int64_t N, int64_t K, GemmA A, GemmB B, float* C, int64_t ldc,
          const float* bias, bool accumulate) noexcept {
  HWY_DYNAMIC_DISPATCH(Gemm)(M, N, K, A, B, C, ldc, bias, accumulate);
}

void pack(int64_t K, int64_t N, const float* B, int64_t ldb, float* out) noexcept {
  for (int64_t j = 0; j < N; j += kPanel) {
    const int64_t cols = std::min(kPanel, N - j);
    if (cols == kPanel) {
      // A length that the compiler knows: two vector moves instead of a call.
      for (int64_t k = 0; k < K; ++k, out += kPanel)
        std::memcpy(out, B + k * ldb + j, kPanel * sizeof(float));
      continue;
    }
    for (int64_t k = 0; k < K; ++k, out += kPanel) pad_few(cols, B + k * ldb + j, out);
  }
}

void pack_transposed(int64_t K, int64_t N, const float* W, int64_t ldw, float* out) noexcept {
  for (int64_t j = 0; j < N; j += kPanel, out += K * kPanel) {
    const int64_t cols = std::min(kPanel, N - j);
    for (int64_t c = 0; c < kPanel; ++c) {
      for (int64_t k = 0; k < K; ++k) out[k * kPanel + c] = c < cols ? W[(j + c) * ldw + k] : 0.0f;
    }
  }
}

double peak_flops(double seconds) noexcept {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  double flops = 0, spent = 0;
  do {
    flops += HWY_DYNAMIC_DISPATCH(FmaLoop)(200000);
    spent = std::chrono::duration<double>(Clock::now() - start).count();
  } while (spent < seconds);
  return flops / spent;
}

}  // namespace linnet
#endif
