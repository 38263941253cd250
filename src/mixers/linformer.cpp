// linformer.cpp -- softmax attention to r learned sums of the sequence instead of its T tokens.
//
// Forward, with one learned E [length, r] a layer, shared by keys, values and heads:
//   K' = sum_t E_t^T k_t  (r,C)     V' = sum_t E_t^T v_t  (r,C)
//   y_i = sum_s softmax_s(q_i . K'_s / sqrt(D)) V'_s              head by head
// Backward: exact attention to the r keys K' and values V' gives dq, dK' and dV' (softmax.cpp);
//   dk_t = E_t dK',   dv_t = E_t dV',   dE_t += dK' k_t + dV' v_t
// Cost: 8 r C a token. Saved: one number a head and row. E has a row for every position, so a
// sequence may not be longer than those that the model was made for. Paper: Wang et al.,
// "Linformer: self-attention with linear complexity", 2020.
#include <algorithm>
#include <cmath>

#include "kernels/gemm.h"
#include "kernels/rows.h"
#include "layers/linear.h"
#include "mixers/softmax.h"

namespace linnet {
namespace {

constexpr int64_t kRank = 64;

int64_t rank_of(const MixerPlan& plan) { return std::min(kRank, plan.length); }

void build(ParamLayout& layout, const std::string& name, MixerPlan& plan) {
  const int64_t r = rank_of(plan);
  plan.key_width = plan.width;
  plan.offsets = {layout.add(name + ".project", {plan.length, r}, Init::normal,
                             1.0f / std::sqrt(static_cast<float>(r)), true)};
}

// The sums K' and V', and once all is absorbed the state of a softmax mixer that has absorbed them.
struct Parts {
  Mat k, v;
  MixerState few;
  Parts(const MixerPlan& plan, const MixerState& s) {
    const int64_t r = rank_of(plan), ld = leading_dim(plan.width);
    k = {s.data, ld};
    v = {s.data + r * ld, ld};
    few = {s.data + 2 * r * ld, r, r};
  }
};

int64_t sum_floats(const MixerPlan& plan) { return 2 * rank_of(plan) * leading_dim(plan.width); }

int64_t state_floats(const MixerPlan& plan, int64_t) {
  return sum_floats(plan) + kSoftmaxMixer.state_floats(plan, rank_of(plan));
}

int64_t saved_floats(const MixerPlan& plan) { return kSoftmaxMixer.saved_floats(plan); }

void absorb(const MixerRun& run, const MixerChunk& chunk, MixerState& state) {
  const MixerPlan& plan = run.plan;
  const int64_t r = rank_of(plan), C = plan.width;
  const Parts parts(plan, state);
  const float* e = run.weights.params + plan.offsets[0] + chunk.first * r;
  gemm(r, C, chunk.rows, columns_of(e, r), plain(chunk.keys.data, chunk.keys.ld), parts.k.data,
       parts.k.ld, nullptr, true);
  gemm(r, C, chunk.rows, columns_of(e, r), plain(chunk.v.data, chunk.v.ld), parts.v.data,
       parts.v.ld, nullptr, true);
  state.count += chunk.rows;
}

void merge(const MixerPlan& plan, const MixerState& other, MixerState& state) {
  add(sum_floats(plan), other.data, state.data);
  state.count += other.count;
}

// The sums as the keys and values of a chunk.
MixerChunk few_tokens(const MixerPlan& plan, const Parts& parts) {
  return {.rows = rank_of(plan), .first = 0, .q = {}, .k = {}, .v = parts.v, .keys = parts.k};
}

void finish(const MixerRun& run, MixerState& state) {
  Parts parts(run.plan, state);
  MixerRun keeping = run;
  keeping.keep = true;
  parts.few.count = 0;
  kSoftmaxMixer.absorb(keeping, few_tokens(run.plan, parts), parts.few);
}

void finish_backward(const MixerRun& run, const MixerState& state, MixerState& dstate, float*) {
  const Parts parts(run.plan, state), owed(run.plan, dstate);
  kSoftmaxMixer.absorb_backward(run, few_tokens(run.plan, parts), parts.few, owed.few,
                                {.dq = {}, .dkeys = owed.k, .dv = owed.v, .params = nullptr});
}

void emit(const MixerRun& run, const MixerChunk& chunk, const MixerState& state, Mat saved, Mat y) {
  kSoftmaxMixer.emit(run, chunk, Parts(run.plan, state).few, saved, y);
}

void emit_backward(const MixerRun& run, const MixerChunk& chunk, const MixerState& state,
                   ConstMat saved, ConstMat y, ConstMat dy, MixerState& dstate,
                   const MixerGrads& grads) {
  Parts owed(run.plan, dstate);
  kSoftmaxMixer.emit_backward(run, chunk, Parts(run.plan, state).few, saved, y, dy, owed.few,
                              grads);
}

void absorb_backward(const MixerRun& run, const MixerChunk& chunk, const MixerState&,
                     const MixerState& dstate, const MixerGrads& grads) {
  const MixerPlan& plan = run.plan;
  const int64_t r = rank_of(plan), C = plan.width, rows = chunk.rows;
  const Parts owed(plan, dstate);
  const int64_t place = plan.offsets[0] + chunk.first * r;
  Arena::Scope scope(run.scratch);
  float* panels = run.scratch.take(packed_floats(C, r));
  // K' = sum_t E_t^T k_t, so dk = E dK' and dE += k dK'^T; likewise for the values.
  const auto one = [&](ConstMat x, ConstMat dsum, Mat dx) {
    gemm(rows, C, r, rows_of(run.weights.params + place, r), plain(dsum.data, dsum.ld), dx.data,
         dx.ld);
    pack_transposed(C, r, dsum.data, dsum.ld, panels);
    gemm(rows, r, C, rows_of(x.data, x.ld), packed(panels, C), grads.params + place, r, nullptr,
         true);
  };
  one(chunk.keys, owed.k, grads.dkeys);
  one(chunk.v, owed.v, grads.dv);
}

MixerFlops flops(const MixerPlan& plan, int64_t) {
  const double products = 4.0 * static_cast<double>(rank_of(plan) * plan.width);
  return {products, products};
}

void reference(const MixerPlan& plan, const Complex* params, int64_t T, const Complex* q,
               const Complex* k, const Complex* v, Complex* y) {
  const int64_t r = rank_of(plan), C = plan.width;
  std::vector<Complex> keys(static_cast<size_t>(r * C)), values(keys.size());
  for (int64_t t = 0; t < T; ++t) {
    for (int64_t at = 0; at < r * C; ++at) {
      const Complex e = params[plan.offsets[0] + t * r + at / C];
      keys[static_cast<size_t>(at)] += e * k[t * C + at % C];
      values[static_cast<size_t>(at)] += e * v[t * C + at % C];
    }
  }
  exact_attention(plan, T, q, r, keys.data(), values.data(), y);
}

}  // namespace

extern const Mixer kLinformerMixer = {
    .name = "linformer",
    .formula = "y_i = sum_s softmax_s(q_i . K'_s / sqrt(D)) V'_s,  K' = E^T K,  V' = E^T V",
    .summary = "attention to 64 learned sums of the sequence; for one length",
    .paper = "Wang et al. 2020",
    .cost = "O(T r C)",
    .state = "O(r C)",
    .uses_q = true,
    .uses_k = true,
    .uses_feature = false,
    .causal = false,
    .grows = false,
    .averages = false,
    .bounded = true,
    .build = build,
    .state_floats = state_floats,
    .saved_floats = saved_floats,
    .prepare = nullptr,
    .prepare_backward = nullptr,
    .absorb = absorb,
    .merge = merge,
    .finish = finish,
    .finish_backward = finish_backward,
    .emit = emit,
    .emit_again = nullptr,
    .emit_backward = emit_backward,
    .absorb_backward = absorb_backward,
    .flops = flops,
    .reference = reference,
};

}  // namespace linnet
