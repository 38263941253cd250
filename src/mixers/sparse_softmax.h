// sparse_softmax.h -- what mixers share that take the exact softmax over few keys: a state of all
// keys and values, and the softmax of a tile of queries over a list of tokens.
#pragma once

#include <limits>
#include <span>

#include "mixers/mixer.h"

namespace linnet {

// A score of what is not seen: exp gives 0.
inline constexpr float kUnseen = -1e30f;

// The state: keys and values as rows, then what the kind adds; dstate has dk and dv there.
struct StoredTokens {
  Mat k, v;
  float* rest;
  StoredTokens(const MixerPlan& plan, const MixerState& state);
};
int64_t stored_floats(const MixerPlan& plan, int64_t T);
// Three functions of a Mixer record.
void store_tokens(const MixerRun& run, const MixerChunk& chunk, MixerState& state);
void merge_tokens(const MixerPlan& plan, const MixerState& other, MixerState& state);
void store_tokens_backward(const MixerRun& run, const MixerChunk& chunk, const MixerState& state,
                           const MixerState& dstate, const MixerGrads& grads);

// Rows of tokens in two places: those before `first` in a state, the others in a chunk.
template <class M>
struct TokenRows {
  M stored, own = {};
  int64_t first = std::numeric_limits<int64_t>::max();
  auto row(int64_t token) const {
    return token < first ? stored.row(token) : own.row(token - first);
  }
};
// The listed rows as a dense matrix [tokens, D], and such a matrix added to the listed rows.
Mat gather_rows(std::span<const int64_t> tokens, int64_t D, const TokenRows<ConstMat>& from,
                Arena& scratch);
void scatter_rows(std::span<const int64_t> tokens, int64_t D, ConstMat rows,
                  const TokenRows<Mat>& to);

// The keys of one head that a tile of queries is asked about.
struct SparseKeys {
  std::span<const int64_t> tokens;
  ConstMat mask;  // [rows, tokens], added to the scores
  TokenRows<ConstMat> k, v;
};

// With s_in = q_i . k_n + mask_in over the listed tokens n, one head [rows, D]:
//   y_i = sum_n softmax_n(s_in) v_n,   lse_i = log sum_n exp s_in.
void sparse_forward(int64_t rows, int64_t D, ConstMat q, const SparseKeys& keys, float* lse, Mat y,
                    Arena& scratch);
// Its adjoint, with delta_i = dy_i . y_i: writes dq, adds to the listed rows of dk and dv.
void sparse_backward(int64_t rows, int64_t D, ConstMat q, const SparseKeys& keys, const float* lse,
                     const float* delta, ConstMat dy, const TokenRows<Mat>& dk,
                     const TokenRows<Mat>& dv, Mat dq, Arena& scratch);

// The definition, for tests: one query that has these scores of these tokens, v and y from the
// head's first column on.
void sparse_reference(std::span<const int64_t> tokens, std::span<const Complex> scores, int64_t D,
                      int64_t C, const Complex* v, Complex* y);

}  // namespace linnet
