// mixers.cpp -- the list of token mixers: one line a kind.
#include "core/registry.h"
#include "mixers/mixer.h"

namespace linnet {

extern const Mixer kKernelMixer, kKernelCountMixer, kKernelDecayMixer, kPerformerMixer,
    kLinearTransformerMixer, kSoftmaxMixer, kMeanMixer, kWindowMixer, kStridedMixer, kReformerMixer,
    kPolyRelu2Mixer, kPolyBilinearMixer, kPolySquaresMixer, kPolySquaresLinearMixer,
    kLinformerMixer, kNystromformerMixer, kScanMixer, kGatedScanMixer;

std::span<const Mixer* const> mixers() {
  static constexpr const Mixer* kList[] = {
      &kKernelMixer,       &kKernelCountMixer,       &kKernelDecayMixer,
      &kPerformerMixer,    &kLinearTransformerMixer, &kSoftmaxMixer,
      &kWindowMixer,       &kStridedMixer,           &kReformerMixer,
      &kLinformerMixer,    &kNystromformerMixer,     &kPolyRelu2Mixer,
      &kPolyBilinearMixer, &kPolySquaresMixer,       &kPolySquaresLinearMixer,
      &kScanMixer,         &kGatedScanMixer,         &kMeanMixer,
  };
  return kList;
}

const Mixer& find_mixer(std::string_view name) { return find_in(mixers(), "mixer", name); }

MixerState take_state(const Mixer& mixer, const MixerPlan& plan, int64_t T, Arena& arena) {
  return {.data = arena.take_zeroed(mixer.state_floats(plan, T)), .count = 0, .capacity = T};
}

}  // namespace linnet
