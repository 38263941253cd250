// gated_scan.cpp -- no attention: running sums whose tokens say how much of the past is forgotten,
// gated by the queries.
//
// Forward, every channel by itself; the first half of the channels from the left, the others from
// the right, so i-1 is i+1 there. Causal: all from the left.
//   e_i = sigmoid(k_i + t),   h_i = (1 - e_i) h_i-1 + b v_i,   y_i = q_i * h_i
// t and b are fixed numbers of the channel: t gives half-lives from 1 to 1024 tokens where k = 0,
// and b keeps h as large as v there. A token can add and keep all (e = 0: the sum counts), or
// forget all (e = 1: the sum begins anew, as at the start of a list).
// Backward, given dy: dq_i = dy_i * h_i, dh_i = dy_i * q_i, then against the direction
//   l_i = dh_i + (1 - e_i+1) l_i+1,   dv_i = b l_i,   de_i = -l_i h_i-1,   dk_i = de_i e_i (1 -
//   e_i).
// The state. Causal: h and the sum of log(1 - e). Else e, v and h [T,C]. Cost: 5 C a token beside
// the sigmoid. Nothing is saved. Papers: Qin et al. 2023 (HGRN), Gu and Dao 2023 (Mamba).
#include "kernels/gated_scan.h"

#include <algorithm>
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
Side left(const MixerPlan& plan) { return {0, plan.causal ? plan.width : (plan.width + 1) / 2, 1}; }
Side right(const MixerPlan& plan) {
  const int64_t first = left(plan).count;
  return {first, plan.width - first, -1};
}

const float* starts(const MixerPlan& plan) { return plan.constants.data(); }              // t
const float* gains(const MixerPlan& plan) { return plan.constants.data() + plan.width; }  // b

void build(ParamLayout&, const std::string&, MixerPlan& plan) {
  plan.key_width = plan.width;
  const auto C = static_cast<size_t>(plan.width);
  plan.constants.resize(2 * C);
  for (const Side& side : {left(plan), right(plan)}) {
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
  return plan.causal ? 2 * plan.width : 3 * T * plan.width;
}
int64_t saved_floats(const MixerPlan&) { return 0; }

float* logs(const MixerPlan& plan, const MixerState& state) { return state.data + plan.width; }
// e, v or h of every token.
Mat kept(const MixerPlan& plan, const MixerState& state, int64_t which) {
  return {state.data + which * state.capacity * plan.width, plan.width};
}
constexpr int64_t kE = 0, kV = 1, kH = 2;

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
    gated_scan(chunk.rows, C, gains(plan), chunk.keys, chunk.v, state.data,
               take_mat(run.scratch, chunk.rows, C));
    for (int64_t i = 0; i < chunk.rows; ++i) {
      for (int64_t c = 0; c < C; ++c) logs(plan, state)[c] += std::log1p(-chunk.keys.row(i)[c]);
    }
  } else {
    copy_rows(chunk.rows, C, chunk.keys, kept(plan, state, kE).rows(state.count));
    copy_rows(chunk.rows, C, chunk.v, kept(plan, state, kV).rows(state.count));
  }
  state.count += chunk.rows;
}

void merge(const MixerPlan& plan, const MixerState& other, MixerState& state) {
  if (plan.causal) {
    for (int64_t c = 0; c < plan.width; ++c) state.data[c] *= std::exp(logs(plan, other)[c]);
    add(2 * plan.width, other.data, state.data);
  } else {
    for (const int64_t which : {kE, kV}) {
      copy_rows(other.count, plan.width, kept(plan, other, which),
                kept(plan, state, which).rows(state.count));
    }
  }
  state.count += other.count;
}

void finish(const MixerRun& run, MixerState& state) {
  const MixerPlan& plan = run.plan;
  const int64_t T = state.count;
  for (const Side& side : {left(plan), right(plan)}) {
    Arena::Scope scope(run.scratch);
    gated_scan(T, side.count, gains(plan) + side.first, side.of(T, kept(plan, state, kE)),
               side.of(T, kept(plan, state, kV)), run.scratch.take_zeroed(side.count),
               side.of(T, kept(plan, state, kH)));
  }
}

void finish_backward(const MixerRun& run, const MixerState& state, MixerState& dstate, float*) {
  const MixerPlan& plan = run.plan;
  const int64_t T = state.count;
  for (const Side& side : {left(plan), right(plan)}) {
    Arena::Scope scope(run.scratch);
    const float* before = run.scratch.take_zeroed(side.count);
    gated_scan_backward(T, side.count, gains(plan) + side.first, side.of(T, kept(plan, state, kE)),
                        before, side.of(T, kept(plan, state, kH)),
                        side.of(T, kept(plan, dstate, kH)), run.scratch.take_zeroed(side.count),
                        side.of(T, kept(plan, dstate, kV)), side.of(T, kept(plan, dstate, kE)));
  }
}

// h of the chunk: kept, or from the state before it.
ConstMat sums_seen(const MixerRun& run, const MixerChunk& chunk, const MixerState& state) {
  const MixerPlan& plan = run.plan;
  if (!plan.causal) return kept(plan, state, kH).rows(chunk.first);
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
      plan.causal ? take_mat(run.scratch, rows, C) : kept(plan, dstate, kH).rows(chunk.first);
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
  copy_rows(chunk.rows, plan.width, kept(plan, dstate, kV).rows(chunk.first), grads.dv);
  copy_rows(chunk.rows, plan.width, kept(plan, dstate, kE).rows(chunk.first), grads.dkeys);
}

// A sigmoid counts as four.
double flops(const MixerPlan& plan, int64_t) { return static_cast<double>(10 * plan.width); }

void reference(const MixerPlan& plan, const Complex*, int64_t T, const Complex* q, const Complex* k,
               const Complex* v, Complex* y) {
  const int64_t C = plan.width;
  for (int64_t c = 0; c < C; ++c) {
    const double t = starts(plan)[c], b = gains(plan)[c];
    Complex h = 0;
    for (int64_t n = 0; n < T; ++n) {
      const int64_t i = (c < left(plan).count ? n : T - 1 - n) * C + c;
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
