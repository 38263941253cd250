// sparse_softmax.cpp -- the softmax of a tile of queries over a list of tokens, and its adjoint.
//
// The list is cut into tiles of 384 tokens, whose keys and values are gathered into dense rows and
// panels: from there on it is the tiled softmax of softmax.cpp, with the same running maximum and
// the same adjoint,
//   p_in = exp(s_in - lse_i),   dp_in = dy_i . v_n,   ds_in = p_in (dp_in - delta_i)
//   dq_i = sum_n ds_in k_n,   dk_n += sum_i ds_in q_i,   dv_n += sum_i p_in dy_i
// and dk and dv of a tile added to the rows of its tokens. A tile may hold keys that a query does
// not see at all: what they gave is multiplied by exp(-1e30 - m) = 0 as soon as one is seen.
// Cost: 4 D a pair of query and listed token, seen or not; gathering 2 D a token of the list.
#include "mixers/sparse_softmax.h"

#include <algorithm>
#include <cmath>

#include "kernels/gemm.h"
#include "kernels/rows.h"
#include "kernels/softmax.h"
#include "layers/linear.h"

namespace linnet {
namespace {

// Tokens a tile: scores of 64 x 384 stay in L2, and a window of 64 + 2 * 128 is one tile.
constexpr int64_t kTile = 384;

const float* transposed_panels(int64_t count, int64_t D, ConstMat rows, Arena& scratch) {
  float* panels = scratch.take(packed_floats(D, count));
  pack_transposed(D, count, rows.data, rows.ld, panels);
  return panels;
}

// A piece of the list, gathered.
struct Tile {
  std::span<const int64_t> tokens;
  int64_t count;
  Mat k, v;
  ConstMat mask;
};

// Calls visit(tile) for every piece.
template <class Visit>
void for_each_tile(const SparseKeys& keys, int64_t D, Arena& scratch, const Visit& visit) {
  const auto all = static_cast<int64_t>(keys.tokens.size());
  for (int64_t at = 0; at < all; at += kTile) {
    Arena::Scope scope(scratch);
    const int64_t count = std::min(kTile, all - at);
    const auto tokens = keys.tokens.subspan(static_cast<size_t>(at), static_cast<size_t>(count));
    visit(Tile{.tokens = tokens,
               .count = count,
               .k = gather_rows(tokens, D, keys.k, scratch),
               .v = gather_rows(tokens, D, keys.v, scratch),
               .mask = keys.mask.columns(at)});
  }
}

// s = q k^T + mask.
void score(int64_t rows, int64_t D, ConstMat q, const Tile& tile, Mat s, Arena& scratch) {
  copy_rows(rows, tile.count, tile.mask, s);
  gemm(rows, tile.count, D, rows_of(q.data, q.ld),
       packed(transposed_panels(tile.count, D, tile.k, scratch), D), s.data, s.ld, nullptr, true);
}

}  // namespace

StoredTokens::StoredTokens(const MixerPlan& plan, const MixerState& state) {
  const int64_t ld = leading_dim(plan.width), part = state.capacity * ld;
  k = {state.data, ld};
  v = {state.data + part, ld};
  rest = state.data + 2 * part;
}

int64_t stored_floats(const MixerPlan& plan, int64_t T) { return 2 * T * leading_dim(plan.width); }

void store_tokens(const MixerRun& run, const MixerChunk& chunk, MixerState& state) {
  const StoredTokens to(run.plan, state);
  copy_rows(chunk.rows, run.plan.width, chunk.keys, to.k.rows(state.count));
  copy_rows(chunk.rows, run.plan.width, chunk.v, to.v.rows(state.count));
  state.count += chunk.rows;
}

void merge_tokens(const MixerPlan& plan, const MixerState& other, MixerState& state) {
  const StoredTokens from(plan, other), to(plan, state);
  copy_rows(other.count, plan.width, from.k, to.k.rows(state.count));
  copy_rows(other.count, plan.width, from.v, to.v.rows(state.count));
  state.count += other.count;
}

void store_tokens_backward(const MixerRun& run, const MixerChunk& chunk, const MixerState&,
                           const MixerState& dstate, const MixerGrads& grads) {
  const StoredTokens owed(run.plan, dstate);
  copy_rows(chunk.rows, run.plan.width, owed.k.rows(chunk.first), grads.dkeys);
  copy_rows(chunk.rows, run.plan.width, owed.v.rows(chunk.first), grads.dv);
}

Mat gather_rows(std::span<const int64_t> tokens, int64_t D, const TokenRows<ConstMat>& from,
                Arena& scratch) {
  const auto count = static_cast<int64_t>(tokens.size());
  const Mat rows = take_mat(scratch, count, D);
  for (int64_t n = 0; n < count; ++n)
    std::copy_n(from.row(tokens[static_cast<size_t>(n)]), D, rows.row(n));
  return rows;
}

void scatter_rows(std::span<const int64_t> tokens, int64_t D, ConstMat rows,
                  const TokenRows<Mat>& to) {
  for (size_t n = 0; n < tokens.size(); ++n)
    add(D, rows.row(static_cast<int64_t>(n)), to.row(tokens[n]));
}

void sparse_forward(int64_t rows, int64_t D, ConstMat q, const SparseKeys& keys, float* lse, Mat y,
                    Arena& scratch) {
  Arena::Scope scope(scratch);
  float *m = lse, *l = scratch.take_zeroed(rows), *factor = scratch.take(rows);
  std::fill_n(m, rows, kUnseen);
  for (int64_t i = 0; i < rows; ++i) std::fill_n(y.row(i), D, 0.0f);
  for_each_tile(keys, D, scratch, [&](const Tile& tile) {
    const Mat s = take_mat(scratch, rows, tile.count);
    score(rows, D, q, tile, s, scratch);
    softmax_tile(rows, tile.count, s, m, l, factor);
    scale_rows(rows, D, y, factor, y);
    gemm(rows, D, tile.count, rows_of(s.data, s.ld), plain(tile.v.data, tile.v.ld), y.data, y.ld,
         nullptr, true);
  });
  for (int64_t i = 0; i < rows; ++i) {
    lse[i] = m[i] + std::log(l[i]);
    factor[i] = 1.0f / l[i];
  }
  scale_rows(rows, D, y, factor, y);
}

void sparse_backward(int64_t rows, int64_t D, ConstMat q, const SparseKeys& keys, const float* lse,
                     const float* delta, ConstMat dy, const TokenRows<Mat>& dk,
                     const TokenRows<Mat>& dv, Mat dq, Arena& scratch) {
  for (int64_t i = 0; i < rows; ++i) std::fill_n(dq.row(i), D, 0.0f);
  for_each_tile(keys, D, scratch, [&](const Tile& tile) {
    const int64_t count = tile.count;
    const Mat p = take_mat(scratch, rows, count), dp = take_mat(scratch, rows, count);
    const Mat part = take_mat(scratch, count, D);
    score(rows, D, q, tile, p, scratch);
    softmax_again(rows, count, p, lse);
    gemm(rows, count, D, rows_of(dy.data, dy.ld),
         packed(transposed_panels(count, D, tile.v, scratch), D), dp.data, dp.ld);
    // y = P V, so dV += P^T dy; and S = Q K^T, so dQ += dS K, dK += dS^T Q.
    gemm(count, D, rows, columns_of(p.data, p.ld), plain(dy.data, dy.ld), part.data, part.ld);
    scatter_rows(tile.tokens, D, part, dv);
    softmax_backward(rows, count, p, delta, dp);
    gemm(rows, D, count, rows_of(dp.data, dp.ld), plain(tile.k.data, tile.k.ld), dq.data, dq.ld,
         nullptr, true);
    gemm(count, D, rows, columns_of(dp.data, dp.ld), plain(q.data, q.ld), part.data, part.ld);
    scatter_rows(tile.tokens, D, part, dk);
  });
}

void sparse_reference(std::span<const int64_t> tokens, std::span<const Complex> scores, int64_t D,
                      int64_t C, const Complex* v, Complex* y) {
  double top = scores[0].real();
  for (const Complex& s : scores) top = std::max(top, s.real());
  Complex total = 0;
  std::fill_n(y, D, Complex(0));
  for (size_t n = 0; n < tokens.size(); ++n) {
    const Complex p = std::exp(scores[n] - top);
    total += p;
    for (int64_t d = 0; d < D; ++d) y[d] += p * v[tokens[n] * C + d];
  }
  for (int64_t d = 0; d < D; ++d) y[d] /= total;
}

}  // namespace linnet
