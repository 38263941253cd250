// pattern.h -- softmax attention over a fixed pattern of positions: what window and strided share.
#pragma once

#include "mixers/sparse_softmax.h"

namespace linnet {

// Query i sees key j where |i - j| <= reach, and
//   where i or j is one of the first `globals` tokens,
//   where j mod stride = stride - 1 (stride 0: none such);
// a causal one sees those of them with j <= i.
struct Pattern {
  int64_t reach, globals, stride;
  constexpr bool seen_by_all(int64_t j) const {
    return j < globals || (stride > 0 && j % stride == stride - 1);
  }
  constexpr bool sees(int64_t i, int64_t j) const {
    return (j > i ? j - i : i - j) <= reach || i < globals || seen_by_all(j);
  }
};

void pattern_build(ParamLayout& layout, const std::string& name, MixerPlan& plan);
int64_t pattern_saved_floats(const MixerPlan& plan);
void pattern_emit(const Pattern& pattern, const MixerRun& run, const MixerChunk& chunk,
                  const MixerState& state, Mat saved, Mat y);
void pattern_emit_backward(const Pattern& pattern, const MixerRun& run, const MixerChunk& chunk,
                           const MixerState& state, ConstMat saved, ConstMat y, ConstMat dy,
                           MixerState& dstate, const MixerGrads& grads);
MixerFlops pattern_flops(const Pattern& pattern, const MixerPlan& plan, int64_t T);
void pattern_reference(const Pattern& pattern, const MixerPlan& plan, int64_t T, const Complex* q,
                       const Complex* k, const Complex* v, Complex* y);

// The record of a pattern, and those of its functions that depend on it.
template <Pattern kPattern>
struct PatternMixer {
  static void emit(const MixerRun& run, const MixerChunk& chunk, const MixerState& state, Mat saved,
                   Mat y) {
    pattern_emit(kPattern, run, chunk, state, saved, y);
  }
  static void emit_backward(const MixerRun& run, const MixerChunk& chunk, const MixerState& state,
                            ConstMat saved, ConstMat y, ConstMat dy, MixerState& dstate,
                            const MixerGrads& grads) {
    pattern_emit_backward(kPattern, run, chunk, state, saved, y, dy, dstate, grads);
  }
  static MixerFlops flops(const MixerPlan& plan, int64_t T) {
    return pattern_flops(kPattern, plan, T);
  }
  static void reference(const MixerPlan& plan, const Complex*, int64_t T, const Complex* q,
                        const Complex* k, const Complex* v, Complex* y) {
    pattern_reference(kPattern, plan, T, q, k, v, y);
  }
  static constexpr Mixer record(std::string_view name, std::string_view formula,
                                std::string_view summary, std::string_view paper,
                                std::string_view cost) {
    return {.name = name,
            .formula = formula,
            .summary = summary,
            .paper = paper,
            .cost = cost,
            .state = "O(T C)",
            .uses_q = true,
            .uses_k = true,
            .uses_feature = false,
            .causal = true,
            .grows = true,
            .build = pattern_build,
            .state_floats = stored_floats,
            .saved_floats = pattern_saved_floats,
            .prepare = nullptr,
            .prepare_backward = nullptr,
            .absorb = store_tokens,
            .merge = merge_tokens,
            .emit = emit,
            .emit_again = nullptr,
            .emit_backward = emit_backward,
            .absorb_backward = store_tokens_backward,
            .flops = flops,
            .reference = reference};
  }
};

}  // namespace linnet
