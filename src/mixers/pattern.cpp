// pattern.cpp -- softmax attention over a fixed pattern of positions, 64 queries at a time.
//
// Forward, one head, over the j that query i sees: s_ij = q_i . k_j / sqrt(D), y_i = sum_j
// softmax_j(s_ij) v_j; saved is lse_i = log sum_j exp s_ij. The tokens that any query of a tile
// sees are listed once for all heads,
//   those seen by all before the near ones | near: within reach of the tile | those after,
// with a mask for what a single query does not see. The global queries of a sequence that is not
// causal are a tile of their own, to which all is near. Backward: sparse_backward, with dq /
// sqrt(D) for q / sqrt(D). Causal: keys before the chunk come from the state, the others from the
// chunk. Cost: 4 D a head and listed token, for every query.
#include "mixers/pattern.h"

#include <algorithm>
#include <cmath>

#include "kernels/rows.h"
#include "layers/linear.h"

namespace linnet {
namespace {

// Queries a tile: of the 64 + 2 * 128 tokens listed for them, each sees four in five.
constexpr int64_t kRows = 64;

// Queries [first, last) and what they see.
struct Tile {
  int64_t first, last;
  std::vector<int64_t> tokens;
  Mat mask;
};

// Appends the tokens of [from, to) that all queries see.
void list_seen_by_all(const Pattern& pattern, int64_t from, int64_t to,
                      std::vector<int64_t>& list) {
  for (; from < std::min(to, pattern.globals); ++from) list.push_back(from);
  if (pattern.stride == 0) return;
  const int64_t next = from / pattern.stride * pattern.stride + pattern.stride - 1;
  for (int64_t j = next; j < to; j += pattern.stride) list.push_back(j);
}

// What queries [first, last) see of the tokens before `end`.
Tile make_tile(const Pattern& pattern, bool causal, int64_t first, int64_t last, int64_t end,
               Arena& scratch) {
  const int64_t reach = !causal && first < pattern.globals ? end : pattern.reach;
  const int64_t near = std::max<int64_t>(0, first - reach), far = std::min(end, last + reach);
  Tile tile{.first = first, .last = last, .tokens = {}, .mask = {}};
  std::vector<int64_t>& tokens = tile.tokens;
  list_seen_by_all(pattern, 0, near, tokens);
  const auto before = static_cast<int64_t>(tokens.size());
  for (int64_t j = near; j < far; ++j) tokens.push_back(j);
  list_seen_by_all(pattern, far, end, tokens);

  const auto count = static_cast<int64_t>(tokens.size());
  tile.mask = take_mat(scratch, last - first, count);
  float* far_only = scratch.take(count);
  for (int64_t n = 0; n < count; ++n)
    far_only[n] = pattern.seen_by_all(tokens[static_cast<size_t>(n)]) ? 0.0f : kUnseen;
  for (int64_t i = first; i < last; ++i) {
    float* row = tile.mask.row(i - first);
    // Of token j in the near part.
    const auto column = [&](int64_t j) { return row + before + std::clamp(j, near, far) - near; };
    std::copy_n(far_only, count, row);
    std::fill(column(i - reach), column(i + reach + 1), 0.0f);
    if (causal) std::fill(column(i + 1), row + count, kUnseen);
  }
  return tile;
}

// Calls visit(tile) for the chunk's queries.
template <class Visit>
void for_each_tile(const Pattern& pattern, const MixerRun& run, const MixerChunk& chunk,
                   const MixerState& state, const Visit& visit) {
  const bool causal = run.plan.causal;
  const int64_t end = chunk.first + chunk.rows;
  for (int64_t first = chunk.first, last; first < end; first = last) {
    Arena::Scope scope(run.scratch);
    last = std::min(end, first + kRows);
    if (!causal && first < pattern.globals) last = std::min(last, pattern.globals);
    visit(make_tile(pattern, causal, first, last, causal ? last : state.count, run.scratch));
  }
}

// One head of rows that a causal chunk has of its own from its first token on.
template <class M>
TokenRows<M> token_rows(const MixerPlan& plan, const MixerChunk& chunk, Mat stored, M own,
                        int64_t h) {
  const int64_t c = h * plan.head;
  if (!plan.causal) return {.stored = stored.columns(c)};
  return {stored.columns(c), own.columns(c), chunk.first};
}

SparseKeys tile_keys(const MixerPlan& plan, const MixerChunk& chunk, const MixerState& state,
                     const Tile& tile, int64_t h) {
  const StoredTokens stored(plan, state);
  return {.tokens = tile.tokens,
          .mask = tile.mask,
          .k = token_rows(plan, chunk, stored.k, chunk.keys, h),
          .v = token_rows(plan, chunk, stored.v, chunk.v, h)};
}

std::vector<float> roots(const MixerPlan& plan) {
  return std::vector<float>(kRows, 1.0f / std::sqrt(static_cast<float>(plan.head)));
}

}  // namespace

void pattern_build(ParamLayout&, const std::string&, MixerPlan& plan) {
  plan.key_width = plan.width;
}

int64_t pattern_saved_floats(const MixerPlan& plan) { return plan.heads; }

void pattern_emit(const Pattern& pattern, const MixerRun& run, const MixerChunk& chunk,
                  const MixerState& state, Mat saved, Mat y) {
  const MixerPlan& plan = run.plan;
  const int64_t D = plan.head;
  const std::vector<float> root = roots(plan);
  for_each_tile(pattern, run, chunk, state, [&](const Tile& tile) {
    const int64_t rows = tile.last - tile.first, at = tile.first - chunk.first;
    const Mat q = take_mat(run.scratch, rows, D);
    float* lse = run.scratch.take(rows);
    for (int64_t h = 0; h < plan.heads; ++h) {
      scale_rows(rows, D, chunk.q.rows(at).columns(h * D), root.data(), q);
      sparse_forward(rows, D, q, tile_keys(plan, chunk, state, tile, h), lse,
                     y.rows(at).columns(h * D), run.scratch);
      for (int64_t i = 0; i < rows; ++i) saved.row(at + i)[h] = lse[i];
    }
  });
}

void pattern_emit_backward(const Pattern& pattern, const MixerRun& run, const MixerChunk& chunk,
                           const MixerState& state, ConstMat saved, ConstMat y, ConstMat dy,
                           MixerState& dstate, const MixerGrads& grads) {
  const MixerPlan& plan = run.plan;
  const int64_t D = plan.head;
  const StoredTokens owed(plan, dstate);
  const std::vector<float> root = roots(plan);
  for_each_tile(pattern, run, chunk, state, [&](const Tile& tile) {
    const int64_t rows = tile.last - tile.first, at = tile.first - chunk.first;
    const Mat q = take_mat(run.scratch, rows, D), dq = take_mat(run.scratch, rows, D);
    float *lse = run.scratch.take(rows), *delta = run.scratch.take(rows);
    for (int64_t h = 0; h < plan.heads; ++h) {
      const ConstMat dyh = dy.rows(at).columns(h * D);
      scale_rows(rows, D, chunk.q.rows(at).columns(h * D), root.data(), q);
      row_dots(rows, D, dyh, y.rows(at).columns(h * D), delta);
      for (int64_t i = 0; i < rows; ++i) lse[i] = saved.row(at + i)[h];
      sparse_backward(rows, D, q, tile_keys(plan, chunk, state, tile, h), lse, delta, dyh,
                      token_rows(plan, chunk, owed.k, grads.dkeys, h),
                      token_rows(plan, chunk, owed.v, grads.dv, h), dq, run.scratch);
      // The scores were of q / sqrt(D).
      scale_rows(rows, D, dq, root.data(), grads.dq.rows(at).columns(h * D));
    }
  });
}

MixerFlops pattern_flops(const Pattern& pattern, const MixerPlan& plan, int64_t T) {
  const int64_t strides = pattern.stride > 0 ? T / pattern.stride : 0;
  const int64_t seen = std::min(T, 2 * pattern.reach + 1 + 2 * pattern.globals + strides);
  return {0, static_cast<double>((plan.causal ? 2 : 4) * plan.width * seen)};
}

void pattern_reference(const Pattern& pattern, const MixerPlan& plan, int64_t T, const Complex* q,
                       const Complex* k, const Complex* v, Complex* y) {
  const int64_t C = plan.width, D = plan.head;
  for (int64_t i = 0; i < T; ++i) {
    std::vector<int64_t> tokens;
    for (int64_t j = 0; j < (plan.causal ? i + 1 : T); ++j) {
      if (pattern.sees(i, j)) tokens.push_back(j);
    }
    for (int64_t c = 0; c < C; c += D) {
      std::vector<Complex> scores;
      for (const int64_t j : tokens) {
        Complex s = 0;
        for (int64_t d = c; d < c + D; ++d) s += q[i * C + d] * k[j * C + d];
        scores.push_back(s / std::sqrt(static_cast<double>(D)));
      }
      sparse_reference(tokens, scores, D, C, v + c, y + i * C + c);
    }
  }
}

}  // namespace linnet
