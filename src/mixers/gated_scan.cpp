// gated_scan.cpp -- no attention: running sums whose tokens say how much of the past is forgotten,
// gated by the queries.
//
// Forward, every channel by itself; the first half of the channels from the left, the others from
// the right, so i-1 is i+1 there. Causal: all from the left.
//   e_i = sigmoid(k_i + t),   h_i = (1 - e_i) h_i-1 + b v_i,   y_i = q_i * h_i
// t and b are fixed numbers of the channel, causal or not: in each half of the channels t gives
// half-lives from 1 to near 1024 tokens where k = 0, and b keeps h as large as v there. A token can
// add and keep all (e = 0: the sum counts), or forget all (e = 1: the sum begins anew, as at the
// start of a list).
// Backward, given dy: dq_i = dy_i * h_i, dh_i = dy_i * q_i, then against the direction
//   l_i = dh_i + (1 - e_i+1) l_i+1,   dv_i = b l_i,
//   de_i = -l_i h_i-1,   dk_i = de_i e_i (1 - e_i).
// The state. Causal: h, and f = 1 - prod(1 - e), the share of what came before that is forgotten.
// Else e and v [T,C], and in the end h in the place of v; dh and dv share a place as well. Cost:
// 4 C a walk and token, beside the sigmoid. Nothing else is saved.
// Papers: Qin et al. 2023 (HGRN), Gu and Dao 2023 (Mamba).
#include "kernels/gated_scan.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/activations.h"
#include "kernels/pairs.h"
#include "kernels/rows.h"
#include "layers/linear.h"
#include "mixers/mixer.h"

namespace linnet {
namespace {

constexpr double kLongest = 1024;  // half-life

// Channels [first, first + count) and the direction of their sums.
struct Side {
  int64_t first, count, step;
  // All rows of `m`, the first of the direction first.
  Mat of(int64_t rows, Mat m) const {
    return {m.row(step > 0 ? 0 : rows - 1) + first, step * m.ld};
  }
};
std::array<Side, 2> sides(const MixerPlan& plan) {
  const int64_t half = (plan.width + 1) / 2;
  return {{{0, half, 1}, {half, plan.width - half, plan.causal ? 1 : -1}}};
}

// Rows of C constants.
const float* starts(const MixerPlan& plan) { return plan.constants.data(); }              // t
const float* gains(const MixerPlan& plan) { return plan.constants.data() + plan.width; }  // b
const float* ones(const MixerPlan& plan) { return plan.constants.data() + 2 * plan.width; }

void build(ParamLayout&, const std::string&, MixerPlan& plan) {
  plan.key_width = plan.width;
  const auto C = static_cast<size_t>(plan.width);
  plan.constants.assign(3 * C, 1.0f);
  for (const Side& side : sides(plan)) {
    for (int64_t c = 0; c < side.count; ++c) {
      const double place = static_cast<double>(c) / static_cast<double>(side.count);
      const double e = -std::expm1(-std::log(2.0) / std::pow(kLongest, place));
      const auto at = static_cast<size_t>(side.first + c);
      plan.constants[at] = static_cast<float>(std::log(e / (1 - e)));
      plan.constants[C + at] = static_cast<float>(std::sqrt(e * (2 - e)));
    }
  }
}

int64_t state_floats(const MixerPlan& plan, int64_t T) {
  return 2 * plan.width * (plan.causal ? 1 : T);
}
int64_t saved_floats(const MixerPlan&) { return 0; }

float* forgotten(const MixerPlan& plan, const MixerState& state) { return state.data + plan.width; }
Mat kept_shares(const MixerPlan& plan, const MixerState& state) { return {state.data, plan.width}; }
// v, from finish on h.
Mat kept_sums(const MixerPlan& plan, const MixerState& state) {
  return {state.data + state.capacity * plan.width, plan.width};
}

void prepare(const MixerRun& run, const MixerChunk& chunk, Mat keys) {
  const int64_t C = run.plan.width;
  copy_rows(chunk.rows, C, chunk.k, keys);
  for (int64_t i = 0; i < chunk.rows; ++i) add(C, starts(run.plan), keys.row(i));
  sigmoid_forward(chunk.rows, C, keys, keys);
}

void prepare_backward(const MixerRun& run, const MixerChunk& chunk, Mat dkeys, Mat dk, float*) {
  sigmoid_backward(chunk.rows, run.plan.width, chunk.keys, dkeys, dk);
}

void absorb(const MixerRun& run, const MixerChunk& chunk, MixerState& state) {
  const MixerPlan& plan = run.plan;
  const int64_t C = plan.width;
  if (plan.causal) {
    Arena::Scope scope(run.scratch);
    const Mat unused = take_mat(run.scratch, chunk.rows, C);
    gated_scan(chunk.rows, C, gains(plan), chunk.keys, chunk.v, state.data, unused);
    gated_scan(chunk.rows, C, ones(plan), chunk.keys, chunk.keys, forgotten(plan, state), unused);
  } else {
    copy_rows(chunk.rows, C, chunk.keys, kept_shares(plan, state).rows(state.count));
    copy_rows(chunk.rows, C, chunk.v, kept_sums(plan, state).rows(state.count));
  }
  state.count += chunk.rows;
}

void merge(const MixerPlan& plan, const MixerState& other, MixerState& state) {
  const int64_t C = plan.width;
  if (plan.causal) {
    for (int64_t i = 0; i < 2 * C; ++i)
      state.data[i] += other.data[i] - forgotten(plan, other)[i % C] * state.data[i];
  } else {
    copy_rows(other.count, C, kept_shares(plan, other), kept_shares(plan, state).rows(state.count));
    copy_rows(other.count, C, kept_sums(plan, other), kept_sums(plan, state).rows(state.count));
  }
  state.count += other.count;
}

void finish(const MixerRun& run, MixerState& state) {
  const MixerPlan& plan = run.plan;
  const int64_t T = state.count;
  for (const Side& side : sides(plan)) {
    Arena::Scope scope(run.scratch);
    const Mat sums = side.of(T, kept_sums(plan, state));
    gated_scan(T, side.count, gains(plan) + side.first, side.of(T, kept_shares(plan, state)), sums,
               run.scratch.take_zeroed(side.count), sums);
  }
}

void finish_backward(const MixerRun& run, const MixerState& state, MixerState& dstate, float*) {
  const MixerPlan& plan = run.plan;
  const int64_t T = state.count;
  for (const Side& side : sides(plan)) {
    Arena::Scope scope(run.scratch);
    const float* before = run.scratch.take_zeroed(side.count);
    const Mat owed = side.of(T, kept_sums(plan, dstate));
    gated_scan_backward(
        T, side.count, gains(plan) + side.first, side.of(T, kept_shares(plan, state)), before,
        side.of(T, kept_sums(plan, state)), owed, run.scratch.take_zeroed(side.count), owed,
        side.of(T, kept_shares(plan, dstate)));
  }
}

// h of the chunk: kept, or from the state before it.
ConstMat sums_seen(const MixerRun& run, const MixerChunk& chunk, const MixerState& state) {
  const MixerPlan& plan = run.plan;
  if (!plan.causal) return kept_sums(plan, state).rows(chunk.first);
  float* h = run.scratch.take(plan.width);
  std::copy_n(state.data, plan.width, h);
  const Mat sums = take_mat(run.scratch, chunk.rows, plan.width);
  gated_scan(chunk.rows, plan.width, gains(plan), chunk.keys, chunk.v, h, sums);
  return sums;
}

void emit(const MixerRun& run, const MixerChunk& chunk, const MixerState& state, Mat, Mat y) {
  Arena::Scope scope(run.scratch);
  pair_forward(Pair::product, chunk.rows, run.plan.width, chunk.q, sums_seen(run, chunk, state), y);
}

void emit_backward(const MixerRun& run, const MixerChunk& chunk, const MixerState& state, ConstMat,
                   ConstMat, ConstMat dy, MixerState& dstate, const MixerGrads& grads) {
  const MixerPlan& plan = run.plan;
  const int64_t C = plan.width, rows = chunk.rows;
  Arena::Scope scope(run.scratch);
  const ConstMat h = sums_seen(run, chunk, state);
  const Mat dh =
      plan.causal ? take_mat(run.scratch, rows, C) : kept_sums(plan, dstate).rows(chunk.first);
  pair_backward(Pair::product, rows, C, chunk.q, h, dy, {}, grads.dq, dh);
  if (!plan.causal) return;
  // The state after the chunk is the last of its sums, so one walk serves both.
  gated_scan_backward(rows, C, gains(plan), chunk.keys, state.data, h, dh, dstate.data, grads.dv,
                      grads.dkeys);
}

void absorb_backward(const MixerRun& run, const MixerChunk& chunk, const MixerState&,
                     const MixerState& dstate, const MixerGrads& grads) {
  const MixerPlan& plan = run.plan;
  for (int64_t i = 0; plan.causal && i < chunk.rows; ++i) {
    std::fill_n(grads.dv.row(i), plan.width, 0.0f);
    std::fill_n(grads.dkeys.row(i), plan.width, 0.0f);
  }
  if (plan.causal) return;
  copy_rows(chunk.rows, plan.width, kept_sums(plan, dstate).rows(chunk.first), grads.dv);
  copy_rows(chunk.rows, plan.width, kept_shares(plan, dstate).rows(chunk.first), grads.dkeys);
}

// A sigmoid counts as four; causal, there are three walks, of answers, state and f.
MixerFlops flops(const MixerPlan& plan, int64_t) {
  const auto C = static_cast<double>(plan.width);
  return {8 * C, (plan.causal ? 9 : 1) * C};
}

void reference(const MixerPlan& plan, const Complex*, int64_t T, const Complex* q, const Complex* k,
               const Complex* v, Complex* y) {
  const int64_t C = plan.width;
  for (int64_t c = 0; c < C; ++c) {
    const double t = starts(plan)[c], b = gains(plan)[c];
    const bool from_left = plan.causal || c < sides(plan)[1].first;
    Complex h = 0;
    for (int64_t n = 0; n < T; ++n) {
      const int64_t i = (from_left ? n : T - 1 - n) * C + c;
      h = h / (1.0 + std::exp(k[i] + t)) + b * v[i];
      y[i] = q[i] * h;
    }
  }
}

}  // namespace

extern const Mixer kGatedScanMixer = {
    .name = "gated-scan",
    .formula =
        "y_i = q_i * h_i,  h_i = (1 - sigmoid(k_i + t)) * h_{i-1} + b v_i; half from the right",
    .summary =
        "no attention: running sums whose tokens say how much is forgotten; they can count and "
        "begin anew",
    .paper = "Qin et al. 2023 (HGRN), Gu and Dao 2023 (Mamba)",
    .cost = "O(T C)",
    .state = "O(C)",
    .uses_q = true,
    .uses_k = true,
    .uses_feature = false,
    .causal = true,
    .grows = false,
    .averages = false,
    .counts = true,
    .build = build,
    .state_floats = state_floats,
    .saved_floats = saved_floats,
    .prepare = prepare,
    .prepare_backward = prepare_backward,
    .absorb = absorb,
    .merge = merge,
    .finish = finish,
    .finish_backward = finish_backward,
    .emit = emit,
    .emit_again = emit,
    .emit_backward = emit_backward,
    .absorb_backward = absorb_backward,
    .flops = flops,
    .reference = reference};

}  // namespace linnet
