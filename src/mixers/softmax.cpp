// softmax.cpp -- exact softmax attention, tiled: never T x T in memory.
//
// Forward, one head, with q already divided by sqrt(D): s_ij = q_i . k_j, p = softmax over j, y_i =
// sum_j p_ij v_j. Tiles of 256 keys with a running maximum m and sum l (Milakov and Gimelshein
// 2018; Dao et al. 2022); saved is lse_i = m_i + log l_i, from which p_ij = exp(s_ij - lse_i) is
// recomputed in the backward. Backward, given dy, with delta_i = dy_i . y_i:
//   dp_ij = dy_i . v_j,   ds_ij = p_ij (dp_ij - delta_i)
//   dq_i = sum_j ds_ij k_j,   dk_j += sum_i ds_ij q_i,   dv_j += sum_i p_ij dy_i
// Causal: j <= i; the state gives the keys before the chunk, the chunk its own triangle.
// Cost: 4 T D a head and token. The state keeps keys and values as rows and as transposed panels of
// 16 tokens, each in the form that a product wants as its right operand; rows of keys and panels of
// values only for a backward. Paper: Vaswani et al., "Attention is all you need", 2017.
#include "kernels/softmax.h"

#include <algorithm>
#include <cmath>

#include "kernels/gemm.h"
#include "kernels/rows.h"
#include "layers/linear.h"
#include "mixers/softmax.h"

namespace linnet {
namespace {

constexpr int64_t kTile = 256;     // keys a tile: scores of 128 x 256 stay in L2
constexpr float kMasked = -1e30f;  // exp gives 0
constexpr float kLowest = -1e30f;  // a maximum of nothing

void build(ParamLayout&, const std::string&, MixerPlan& plan) { plan.key_width = plan.width; }

// The four parts of a state; dstate has dk and dv in the places of the rows.
struct Parts {
  int64_t ld;
  Mat k, v;                    // rows
  float *k_panels, *v_panels;  // [H][tokens/16][D][16]
  int64_t panel_floats;        // of one head
  Parts(const MixerPlan& plan, const MixerState& s) : ld(leading_dim(plan.width)) {
    const int64_t tokens = round_up(s.capacity, kPanel), part = tokens * ld;
    k = {s.data, ld};
    v = {s.data + part, ld};
    k_panels = s.data + 2 * part;
    v_panels = s.data + 3 * part;
    panel_floats = tokens * plan.head;
  }
};

int64_t state_floats(const MixerPlan& plan, int64_t T) {
  return 4 * round_up(T, kPanel) * leading_dim(plan.width);
}

int64_t saved_floats(const MixerPlan& plan) { return plan.heads; }

// Rows of x [rows, C] into the panels of every head, from token `at` on.
void store_panels(const MixerPlan& plan, int64_t rows, ConstMat x, int64_t at, float* panels,
                  int64_t panel_floats) {
  const int64_t D = plan.head;
  for (int64_t h = 0; h < plan.heads; ++h) {
    for (int64_t r = 0; r < rows; ++r) {
      const float* in = x.row(r) + h * D;
      float* out = panels + h * panel_floats + (at + r) / kPanel * kPanel * D + (at + r) % kPanel;
      for (int64_t d = 0; d < D; ++d) out[d * kPanel] = in[d];
    }
  }
}

void append(const MixerPlan& plan, int64_t rows, ConstMat keys, ConstMat v, bool keep,
            MixerState& state) {
  const Parts parts(plan, state);
  const int64_t at = state.count;
  copy_rows(rows, plan.width, v, parts.v.rows(at));
  store_panels(plan, rows, keys, at, parts.k_panels, parts.panel_floats);
  if (keep) {
    copy_rows(rows, plan.width, keys, parts.k.rows(at));
    store_panels(plan, rows, v, at, parts.v_panels, parts.panel_floats);
  }
  state.count += rows;
}

void absorb(const MixerRun& run, const MixerChunk& chunk, MixerState& state) {
  append(run.plan, chunk.rows, chunk.keys, chunk.v, run.keep, state);
}

// Concatenates; the keys come back out of the panels.
void merge(const MixerPlan& plan, const MixerState& other, MixerState& state) {
  const Parts from(plan, other);
  const int64_t D = plan.head;
  std::vector<float> key(static_cast<size_t>(plan.width));
  for (int64_t t = 0; t < other.count; ++t) {
    for (int64_t c = 0; c < plan.width; ++c) {
      key[static_cast<size_t>(c)] =
          from.k_panels[c / D * from.panel_floats + t / kPanel * kPanel * D + c % D * kPanel +
                        t % kPanel];
    }
    append(plan, 1, {key.data(), 0}, from.v.rows(t), true, state);
  }
}

// One tile of keys as the products want it, from the state or from the chunk itself.
struct Keys {
  int64_t count;
  const float *k_panels, *v_panels;
  ConstMat k, v;
  Mat dk, dv;     // backward only
  bool triangle;  // the chunk's own keys: key j is seen by rows >= j
};

Keys state_tile(const MixerPlan& plan, const MixerState& state, int64_t at, int64_t count,
                int64_t h) {
  const Parts parts(plan, state);
  const int64_t c = h * plan.head, panel = h * parts.panel_floats + at * plan.head;
  return {.count = count,
          .k_panels = parts.k_panels + panel,
          .v_panels = parts.v_panels + panel,
          .k = parts.k.rows(at).columns(c),
          .v = parts.v.rows(at).columns(c),
          .dk = {},
          .dv = {},
          .triangle = false};
}

Keys chunk_tile(const MixerPlan& plan, const MixerChunk& chunk, int64_t h, Arena& scratch) {
  const int64_t D = plan.head, rows = chunk.rows;
  const ConstMat k = chunk.keys.columns(h * D), v = chunk.v.columns(h * D);
  float* k_panels = scratch.take(packed_floats(D, rows));
  float* v_panels = scratch.take(packed_floats(D, rows));
  pack_transposed(D, rows, k.data, k.ld, k_panels);
  pack_transposed(D, rows, v.data, v.ld, v_panels);
  return {.count = rows,
          .k_panels = k_panels,
          .v_panels = v_panels,
          .k = k,
          .v = v,
          .dk = {},
          .dv = {},
          .triangle = true};
}

void score(int64_t rows, int64_t D, ConstMat q, const Keys& keys, Mat s) {
  gemm(rows, keys.count, D, rows_of(q.data, q.ld), packed(keys.k_panels, D), s.data, s.ld);
  for (int64_t i = 0; keys.triangle && i < rows; ++i) {
    std::fill(s.row(i) + i + 1, s.row(i) + keys.count, kMasked);
  }
}

// q / sqrt(D) of one head.
Mat scaled_queries(const MixerPlan& plan, const MixerChunk& chunk, int64_t h, Arena& scratch) {
  const Mat q = take_mat(scratch, chunk.rows, plan.head);
  copy_rows(chunk.rows, plan.head, chunk.q.columns(h * plan.head), q);
  scale(chunk.rows * q.ld, 1.0f / std::sqrt(static_cast<float>(plan.head)), q.data);
  return q;
}

// Calls visit(keys) for every tile that the chunk sees.
template <class Visit>
void for_each_tile(const MixerPlan& plan, const MixerChunk& chunk, const MixerState& state,
                   int64_t h, Arena& scratch, const Visit& visit) {
  const int64_t seen = plan.causal ? chunk.first : state.count;
  for (int64_t at = 0; at < seen; at += kTile) {
    visit(state_tile(plan, state, at, std::min(kTile, seen - at), h), at);
  }
  if (!plan.causal) return;
  Arena::Scope scope(scratch);
  visit(chunk_tile(plan, chunk, h, scratch), chunk.first);
}

void emit(const MixerRun& run, const MixerChunk& chunk, const MixerState& state, Mat saved, Mat y) {
  const MixerPlan& plan = run.plan;
  const int64_t rows = chunk.rows, D = plan.head;
  Arena::Scope scope(run.scratch);
  float *m = run.scratch.take(rows), *l = run.scratch.take(rows), *factor = run.scratch.take(rows);
  const Mat s = take_mat(run.scratch, rows, std::max(kTile, rows));
  for (int64_t h = 0; h < plan.heads; ++h) {
    Arena::Scope head_scope(run.scratch);
    const Mat q = scaled_queries(plan, chunk, h, run.scratch), out = y.columns(h * D);
    std::fill_n(m, rows, kLowest);
    std::fill_n(l, rows, 0.0f);
    for (int64_t i = 0; i < rows; ++i) std::fill_n(out.row(i), D, 0.0f);
    for_each_tile(plan, chunk, state, h, run.scratch, [&](const Keys& keys, int64_t) {
      score(rows, D, q, keys, s);
      softmax_tile(rows, keys.count, s, m, l, factor);
      scale_rows(rows, D, out, factor, out);
      gemm(rows, D, keys.count, rows_of(s.data, s.ld), plain(keys.v.data, keys.v.ld), out.data,
           out.ld, nullptr, true);
    });
    for (int64_t i = 0; i < rows; ++i) {
      saved.row(i)[h] = m[i] + std::log(l[i]);
      factor[i] = 1.0f / l[i];
    }
    scale_rows(rows, D, out, factor, out);
  }
}

// The adjoint of one tile: dq += ..., dk += ..., dv += ...; p and dp are scratch.
void tile_backward(int64_t rows, int64_t D, ConstMat q, ConstMat dy, const Keys& keys,
                   const float* lse, const float* delta, Mat p, Mat dp, Mat dq) {
  score(rows, D, q, keys, p);
  softmax_again(rows, keys.count, p, lse);
  gemm(rows, keys.count, D, rows_of(dy.data, dy.ld), packed(keys.v_panels, D), dp.data, dp.ld);
  // y = P V, so dV += P^T dy; and S = Q K^T, so dQ += dS K, dK += dS^T Q.
  gemm(keys.count, D, rows, columns_of(p.data, p.ld), plain(dy.data, dy.ld), keys.dv.data,
       keys.dv.ld, nullptr, true);
  softmax_backward(rows, keys.count, p, delta, dp);
  gemm(rows, D, keys.count, rows_of(dp.data, dp.ld), plain(keys.k.data, keys.k.ld), dq.data, dq.ld,
       nullptr, true);
  gemm(keys.count, D, rows, columns_of(dp.data, dp.ld), plain(q.data, q.ld), keys.dk.data,
       keys.dk.ld, nullptr, true);
}

void emit_backward(const MixerRun& run, const MixerChunk& chunk, const MixerState& state,
                   ConstMat saved, ConstMat y, ConstMat dy, MixerState& dstate,
                   const MixerGrads& grads) {
  const MixerPlan& plan = run.plan;
  const int64_t rows = chunk.rows, D = plan.head;
  const Parts owed(plan, dstate);
  Arena::Scope scope(run.scratch);
  float *lse = run.scratch.take(rows), *delta = run.scratch.take(rows);
  const Mat p = take_mat(run.scratch, rows, std::max(kTile, rows));
  const Mat dp = take_mat(run.scratch, rows, std::max(kTile, rows));
  const Mat dq = take_mat(run.scratch, rows, D);
  const std::vector<float> root(static_cast<size_t>(rows), 1.0f / std::sqrt(static_cast<float>(D)));
  for (int64_t h = 0; h < plan.heads; ++h) {
    Arena::Scope head_scope(run.scratch);
    const Mat q = scaled_queries(plan, chunk, h, run.scratch);
    const ConstMat dyh = dy.columns(h * D);
    row_dots(rows, D, dyh, y.columns(h * D), delta);
    for (int64_t i = 0; i < rows; ++i) {
      lse[i] = saved.row(i)[h];
      std::fill_n(dq.row(i), D, 0.0f);
    }
    for_each_tile(plan, chunk, state, h, run.scratch, [&](Keys keys, int64_t at) {
      keys.dk = (keys.triangle ? grads.dkeys : owed.k.rows(at)).columns(h * D);
      keys.dv = (keys.triangle ? grads.dv : owed.v.rows(at)).columns(h * D);
      tile_backward(rows, D, q, dyh, keys, lse, delta, p, dp, dq);
    });
    // The scores were of q / sqrt(D).
    scale_rows(rows, D, dq, root.data(), grads.dq.columns(h * D));
  }
}

void absorb_backward(const MixerRun& run, const MixerChunk& chunk, const MixerState&,
                     const MixerState& dstate, const MixerGrads& grads) {
  const Parts owed(run.plan, dstate);
  copy_rows(chunk.rows, run.plan.width, owed.k.rows(chunk.first), grads.dkeys);
  copy_rows(chunk.rows, run.plan.width, owed.v.rows(chunk.first), grads.dv);
}

MixerFlops flops(const MixerPlan& plan, int64_t T) {
  return {0, static_cast<double>((plan.causal ? 2 : 4) * plan.width * T)};
}

void reference(const MixerPlan& plan, const Complex*, int64_t T, const Complex* q, const Complex* k,
               const Complex* v, Complex* y) {
  exact_attention(plan, T, q, T, k, v, y);
}

}  // namespace

KeyValues key_values(const MixerPlan& plan, const MixerState& state) {
  const Parts parts(plan, state);
  return {parts.k, parts.v};
}

std::vector<Complex> exact_weights(const MixerPlan& plan, int64_t h, const Complex* q,
                                   int64_t count, const Complex* k) {
  const int64_t C = plan.width, D = plan.head;
  std::vector<Complex> p(static_cast<size_t>(count));
  double top = -1e300;
  for (int64_t j = 0; j < count; ++j) {
    Complex s = 0;
    for (int64_t c = h * D; c < (h + 1) * D; ++c) s += q[c] * k[j * C + c];
    p[static_cast<size_t>(j)] = s / std::sqrt(static_cast<double>(D));
    top = std::max(top, p[static_cast<size_t>(j)].real());
  }
  Complex total = 0;
  for (Complex& s : p) total += s = std::exp(s - top);
  for (Complex& s : p) s /= total;
  return p;
}

void exact_attention(const MixerPlan& plan, int64_t rows, const Complex* q, int64_t count,
                     const Complex* k, const Complex* v, Complex* y) {
  const int64_t C = plan.width, D = plan.head;
  for (int64_t h = 0; h < plan.heads; ++h) {
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t seen = plan.causal ? i + 1 : count;
      const std::vector<Complex> p = exact_weights(plan, h, q + i * C, seen, k);
      for (int64_t c = h * D; c < (h + 1) * D; ++c) {
        Complex sum = 0;
        for (int64_t j = 0; j < seen; ++j) sum += p[static_cast<size_t>(j)] * v[j * C + c];
        y[i * C + c] = sum;
      }
    }
  }
}

extern const Mixer kSoftmaxMixer = {
    .name = "softmax",
    .formula = "y_i = sum_j softmax_j(q_i . k_j / sqrt(D)) v_j",
    .summary = "exact attention, tiled; the yardstick",
    .paper = "Vaswani et al. 2017",
    .cost = "O(T^2 D)",
    .state = "O(T C)",
    .uses_q = true,
    .uses_k = true,
    .uses_feature = false,
    .causal = true,
    .grows = true,
    .build = build,
    .state_floats = state_floats,
    .saved_floats = saved_floats,
    .prepare = nullptr,
    .prepare_backward = nullptr,
    .absorb = absorb,
    .merge = merge,
    .emit = emit,
    .emit_again = nullptr,
    .emit_backward = emit_backward,
    .absorb_backward = absorb_backward,
    .flops = flops,
    .reference = reference,
};

}  // namespace linnet
