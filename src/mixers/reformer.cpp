// reformer.cpp -- LSH attention: exact softmax over the tokens that a random hash puts nearby.
//
// Forward, one head, on k alone: queries are k, keys are u_j = k_j / n_j, n_j = sqrt(|k_j|^2 +
// guard).
//   bucket_j = argmax of [k_j R, -k_j R],  R (D, b/2) random and fixed
// Tokens are sorted by (bucket, position) and cut into chunks of 64; a query i sees the tokens j of
// its own chunk and of the one before:
//   s_ij = k_i . u_j - 1e5 [i = j],   y_i = sum_j softmax_j(s_ij) v_j
// so that a token answers itself only where it is alone. There is no 1 / sqrt(D): keys have length
// 1. Backward: the hash is a constant; sparse_backward gives what is owed to queries (dq), u and v,
//   dk_j += dq_j + (du_j - u_j (u_j . du_j)) / n_j.
// All of it needs the whole sequence, so it happens in finish: the state holds k, v, then y and lse
// of every token; emit copies rows of y, and dstate has dy in their place.
// The number of buckets b is even, near T / 32 and at most 64: buckets are half a chunk, until
// sequences are too long for that. R is kept for the largest b.
// Cost: 4 * 128 D + D b a head and token. One round of hashing; other buckets of a chunk are not
// masked. Paper: Kitaev et al., "Reformer: the efficient transformer", 2020.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/gemm.h"
#include "kernels/rows.h"
#include "layers/linear.h"
#include "mixers/sparse_softmax.h"

namespace linnet {
namespace {

constexpr int64_t kRows = 64;  // tokens a chunk
constexpr int64_t kMostBuckets = 64;
constexpr float kOwn = -1e5f;     // added to a token's score of itself
constexpr float kGuard = 1e-12f;  // a key of zeros has a length

void build(ParamLayout& layout, const std::string& name, MixerPlan& plan) {
  plan.key_width = plan.width;
  plan.offsets = {layout.add_fixed(name + ".rotation", {plan.heads, plan.head, kMostBuckets / 2},
                                   Init::normal, 0)};
}

// What the state holds behind keys and values.
struct Answers {
  Mat y, lse;
  Answers(const MixerPlan& plan, const MixerState& state) {
    y = {StoredTokens(plan, state).rest, leading_dim(plan.width)};
    lse = {y.row(state.capacity), plan.heads};
  }
};

int64_t state_floats(const MixerPlan& plan, int64_t T) {
  return stored_floats(plan, T) + T * (leading_dim(plan.width) + plan.heads);
}

int64_t saved_floats(const MixerPlan&) { return 0; }

// Tokens by (bucket, position), for k [T, D] and R [D, 32] of one head. Sums in float, in the order
// of gemm: whoever asks with the same floats has the same order.
std::vector<int64_t> hashed_order(int64_t T, int64_t D, ConstMat k, const float* rotation,
                                  Arena& scratch) {
  Arena::Scope scope(scratch);
  const int64_t half = std::min(kMostBuckets, round_up((T + 31) / 32, 2)) / 2;
  const Mat turned = take_mat(scratch, std::min(T, kRows), half);
  std::vector<int64_t> bucket(static_cast<size_t>(T)), order(static_cast<size_t>(T));
  for (int64_t at = 0; at < T; at += kRows) {
    const int64_t rows = std::min(kRows, T - at);
    gemm(rows, half, D, rows_of(k.row(at), k.ld), plain(rotation, kMostBuckets / 2), turned.data,
         turned.ld);
    for (int64_t r = 0; r < rows; ++r) {
      const float* x = turned.row(r);
      const auto most = std::max_element(x, x + half), least = std::min_element(x, x + half);
      bucket[static_cast<size_t>(at + r)] = *most >= -*least ? most - x : half + (least - x);
    }
  }
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return bucket[static_cast<size_t>(a)] < bucket[static_cast<size_t>(b)];
  });
  return order;
}

// One head of a finished sequence: u, 1 / n and the order of its tokens.
struct Head {
  int64_t T, D;
  Mat k, v, u;
  float* scale;
  std::vector<int64_t> order;
};

Head make_head(const MixerRun& run, const MixerState& state, int64_t h) {
  const MixerPlan& plan = run.plan;
  const StoredTokens stored(plan, state);
  const int64_t T = state.count, D = plan.head;
  Head head{.T = T,
            .D = D,
            .k = stored.k.columns(h * D),
            .v = stored.v.columns(h * D),
            .u = take_mat(run.scratch, T, D),
            .scale = run.scratch.take(T),
            .order = {}};
  const float* rotation = run.weights.params + plan.offsets[0] + h * D * (kMostBuckets / 2);
  head.order = hashed_order(T, D, head.k, rotation, run.scratch);
  row_dots(T, D, head.k, head.k, head.scale);
  for (int64_t t = 0; t < T; ++t) head.scale[t] = 1.0f / std::sqrt(head.scale[t] + kGuard);
  scale_rows(T, D, head.k, head.scale, head.u);
  return head;
}

// Calls visit(queries, keys) for every chunk of the sorted tokens.
template <class Visit>
void for_each_chunk(const Head& head, Arena& scratch, const Visit& visit) {
  const std::span<const int64_t> order = head.order;
  for (int64_t first = 0; first < head.T; first += kRows) {
    Arena::Scope scope(scratch);
    const int64_t rows = std::min(kRows, head.T - first), before = std::min(first, kRows);
    const auto start = static_cast<size_t>(first - before);
    const Mat mask = take_mat(scratch, rows, before + rows);
    for (int64_t i = 0; i < rows; ++i) {
      std::fill_n(mask.row(i), before + rows, 0.0f);
      mask.row(i)[before + i] = kOwn;
    }
    visit(order.subspan(static_cast<size_t>(first), static_cast<size_t>(rows)),
          SparseKeys{.tokens = order.subspan(start, static_cast<size_t>(before + rows)),
                     .mask = mask,
                     .k = {.stored = head.u},
                     .v = {.stored = head.v}});
  }
}

void finish(const MixerRun& run, MixerState& state) {
  const Answers answers(run.plan, state);
  for (int64_t h = 0; h < run.plan.heads; ++h) {
    Arena::Scope scope(run.scratch);
    const Head head = make_head(run, state, h);
    const int64_t D = head.D;
    for_each_chunk(head, run.scratch,
                   [&](std::span<const int64_t> queries, const SparseKeys& keys) {
                     const auto rows = static_cast<int64_t>(queries.size());
                     const Mat q = gather_rows(queries, D, {.stored = head.k}, run.scratch),
                               y = take_mat(run.scratch, rows, D);
                     float* lse = run.scratch.take(rows);
                     sparse_forward(rows, D, q, keys, lse, y, run.scratch);
                     for (int64_t i = 0; i < rows; ++i) {
                       const int64_t token = queries[static_cast<size_t>(i)];
                       std::copy_n(y.row(i), D, answers.y.row(token) + h * D);
                       answers.lse.row(token)[h] = lse[i];
                     }
                   });
  }
}

void finish_backward(const MixerRun& run, const MixerState& state, MixerState& dstate, float*) {
  const Answers answers(run.plan, state), owed(run.plan, dstate);
  const StoredTokens grads(run.plan, dstate);
  for (int64_t h = 0; h < run.plan.heads; ++h) {
    Arena::Scope scope(run.scratch);
    const Head head = make_head(run, state, h);
    const int64_t T = head.T, D = head.D, c = h * D;
    const Mat dk = grads.k.columns(c), dv = grads.v.columns(c);
    const Mat du{run.scratch.take_zeroed(T * head.u.ld), head.u.ld};
    for_each_chunk(
        head, run.scratch, [&](std::span<const int64_t> queries, const SparseKeys& keys) {
          const auto rows = static_cast<int64_t>(queries.size());
          const Mat q = gather_rows(queries, D, {.stored = head.k}, run.scratch),
                    dq = take_mat(run.scratch, rows, D),
                    y = gather_rows(queries, D, {.stored = answers.y.columns(c)}, run.scratch),
                    dy = gather_rows(queries, D, {.stored = owed.y.columns(c)}, run.scratch);
          float *lse = run.scratch.take(rows), *delta = run.scratch.take(rows);
          for (int64_t i = 0; i < rows; ++i)
            lse[i] = answers.lse.row(queries[static_cast<size_t>(i)])[h];
          row_dots(rows, D, dy, y, delta);
          sparse_backward(rows, D, q, keys, lse, delta, dy, {.stored = du}, {.stored = dv}, dq,
                          run.scratch);
          scatter_rows(queries, D, dq, {.stored = dk});
        });
    // u = k / n, so dk += (du - u (u . du)) / n.
    float* along = run.scratch.take(T);
    row_dots(T, D, head.u, du, along);
    for (int64_t t = 0; t < T; ++t) {
      add_scaled(D, -along[t], head.u.row(t), du.row(t));
      add_scaled(D, head.scale[t], du.row(t), dk.row(t));
    }
  }
}

void emit(const MixerRun& run, const MixerChunk& chunk, const MixerState& state, Mat, Mat y) {
  copy_rows(chunk.rows, run.plan.width, Answers(run.plan, state).y.rows(chunk.first), y);
}

void emit_backward(const MixerRun& run, const MixerChunk& chunk, const MixerState&, ConstMat,
                   ConstMat, ConstMat dy, MixerState& dstate, const MixerGrads&) {
  add_rows(chunk.rows, run.plan.width, dy, Answers(run.plan, dstate).y.rows(chunk.first));
}

MixerFlops flops(const MixerPlan& plan, int64_t T) {
  const int64_t seen = std::min(T, 2 * kRows), buckets = std::min(kMostBuckets, T / 32 + 2);
  return {static_cast<double>(plan.width * (4 * seen + buckets)), 0};
}

// The order is taken from the real parts in float, as the engine has them.
void reference(const MixerPlan& plan, const Complex* params, int64_t T, const Complex*,
               const Complex* k, const Complex* v, Complex* y) {
  const int64_t C = plan.width, D = plan.head;
  const auto real = [](const Complex& x) { return static_cast<float>(x.real()); };
  std::vector<float> rounded(static_cast<size_t>(T * C));
  std::vector<float> rotation(static_cast<size_t>(D * (kMostBuckets / 2)));
  std::transform(k, k + T * C, rounded.begin(), real);
  Arena scratch;
  for (int64_t c = 0; c < C; c += D) {
    const Complex* R = params + plan.offsets[0] + c * (kMostBuckets / 2);
    std::transform(R, R + D * (kMostBuckets / 2), rotation.begin(), real);
    const std::vector<int64_t> order =
        hashed_order(T, D, {rounded.data() + c, C}, rotation.data(), scratch);
    for (int64_t n = 0; n < T; ++n) {
      const int64_t i = order[static_cast<size_t>(n)], chunk = n / kRows * kRows;
      const auto first = order.begin() + std::max<int64_t>(0, chunk - kRows),
                 last = order.begin() + std::min(T, chunk + kRows);
      const std::vector<int64_t> tokens(first, last);
      std::vector<Complex> scores;
      for (const int64_t j : tokens) {
        Complex dot = 0, squares = static_cast<double>(kGuard);
        for (int64_t d = c; d < c + D; ++d) {
          dot += k[i * C + d] * k[j * C + d];
          squares += k[j * C + d] * k[j * C + d];
        }
        scores.push_back(dot / std::sqrt(squares) + (i == j ? static_cast<double>(kOwn) : 0.0));
      }
      sparse_reference(tokens, scores, D, C, v + c, y + i * C + c);
    }
  }
}

}  // namespace

extern const Mixer kReformerMixer = {
    .name = "reformer",
    .formula = "softmax over tokens of like hash: k_i . k_j / |k_j|",
    .summary = "exact attention within chunks of tokens sorted by a random hash",
    .paper = "Kitaev et al. 2020",
    .cost = "O(T log T + T D)",
    .state = "O(T C)",
    .uses_q = false,
    .uses_k = true,
    .uses_feature = false,
    .causal = false,
    .grows = true,
    .build = build,
    .state_floats = state_floats,
    .saved_floats = saved_floats,
    .prepare = nullptr,
    .prepare_backward = nullptr,
    .absorb = store_tokens,
    .merge = merge_tokens,
    .finish = finish,
    .finish_backward = finish_backward,
    .emit = emit,
    .emit_again = emit,
    .emit_backward = emit_backward,
    .absorb_backward = store_tokens_backward,
    .flops = flops,
    .reference = reference,
};

}  // namespace linnet
