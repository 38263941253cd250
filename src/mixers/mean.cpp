// mean.cpp -- the mean of all values: the least that a token mixer can do, the floor of every
// comparison.
//
// Forward: s = sum_j v_j, y_i = s / T. Causal: y_i = (sum_{j<=i} v_j) / (i + 1).
// Backward: ds += sum_i dy_i / T, dv_j = ds. Causal: inside the chunk dv_j += sum_{i>=j} dy_i / (i
// + 1), and what the chunk owes to the state before it is the same sum over the whole chunk. Cost:
// C a token.
#include "kernels/rows.h"
#include "mixers/mixer.h"

namespace linnet {
namespace {

void build(ParamLayout&, const std::string&, MixerPlan& plan) { plan.key_width = 0; }
int64_t state_floats(const MixerPlan& plan, int64_t) { return plan.width; }
int64_t saved_floats(const MixerPlan&) { return 0; }

void absorb(const MixerRun& run, const MixerChunk& chunk, MixerState& state) {
  add_column_sums(chunk.rows, run.plan.width, chunk.v, state.data);
  state.count += chunk.rows;
}

void merge(const MixerPlan& plan, const MixerState& other, MixerState& state) {
  add(plan.width, other.data, state.data);
  state.count += other.count;
}

void emit(const MixerRun& run, const MixerChunk& chunk, const MixerState& state, Mat, Mat y) {
  const int64_t C = run.plan.width;
  Arena::Scope scope(run.scratch);
  float* sum = run.scratch.take(C);
  copy_rows(1, C, {state.data, 0}, {sum, 0});
  for (int64_t i = 0; i < chunk.rows; ++i) {
    if (run.plan.causal) add(C, chunk.v.row(i), sum);
    const float weight = 1.0f / static_cast<float>(tokens_seen(run.plan, chunk, state, i));
    scale_rows(1, C, {sum, 0}, &weight, y.rows(i));
  }
}

void emit_backward(const MixerRun& run, const MixerChunk& chunk, const MixerState& state, ConstMat,
                   ConstMat, ConstMat dy, MixerState& dstate, const MixerGrads& grads) {
  const int64_t C = run.plan.width;
  Arena::Scope scope(run.scratch);
  float* sum = run.scratch.take_zeroed(C);
  for (int64_t i = chunk.rows - 1; i >= 0; --i) {
    const float weight = 1.0f / static_cast<float>(tokens_seen(run.plan, chunk, state, i));
    add_scaled(C, weight, dy.row(i), sum);
    if (run.plan.causal) add(C, sum, grads.dv.row(i));
  }
  add(C, sum, dstate.data);
}

void absorb_backward(const MixerRun& run, const MixerChunk& chunk, const MixerState&,
                     const MixerState& dstate, const MixerGrads& grads) {
  copy_rows(chunk.rows, run.plan.width, {dstate.data, 0}, grads.dv);
}

MixerFlops flops(const MixerPlan& plan, int64_t) {
  const auto C = static_cast<double>(plan.width);
  return {C, C};
}

void reference(const MixerPlan& plan, const Complex*, int64_t T, const Complex*, const Complex*,
               const Complex* v, Complex* y) {
  for (int64_t i = 0; i < T; ++i) {
    const int64_t seen = plan.causal ? i + 1 : T;
    for (int64_t c = 0; c < plan.width; ++c) {
      Complex sum = 0;
      for (int64_t j = 0; j < seen; ++j) sum += v[j * plan.width + c];
      y[i * plan.width + c] = sum / static_cast<double>(seen);
    }
  }
}

}  // namespace

extern const Mixer kMeanMixer = {
    .name = "mean",
    .formula = "y_i = mean of v_j",
    .summary = "the mean of all values; the floor of every comparison",
    .paper = "",
    .cost = "O(T C)",
    .state = "O(C)",
    .uses_q = false,
    .uses_k = false,
    .uses_feature = false,
    .causal = true,
    .grows = false,
    .build = build,
    .state_floats = state_floats,
    .saved_floats = saved_floats,
    .prepare = nullptr,
    .prepare_backward = nullptr,
    .absorb = absorb,
    .merge = merge,
    .emit = emit,
    .emit_again = emit,
    .emit_backward = emit_backward,
    .absorb_backward = absorb_backward,
    .flops = flops,
    .reference = reference,
};

}  // namespace linnet
