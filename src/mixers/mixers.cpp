// mixers.cpp -- the list of token mixers: one line a kind.
#include "core/registry.h"
#include "mixers/mixer.h"

namespace linnet {

extern const Mixer kKernelMixer, kSoftmaxMixer, kMeanMixer;

std::span<const Mixer* const> mixers() {
  static constexpr const Mixer* kList[] = {
      &kKernelMixer,
      &kSoftmaxMixer,
      &kMeanMixer,
  };
  return kList;
}

const Mixer& find_mixer(std::string_view name) { return find_in(mixers(), "mixer", name); }

ConstMat mixer_keys(const Mixer& mixer, const MixerRun& run, const MixerChunk& chunk, Mat keys) {
  if (mixer.prepare == nullptr) return chunk.k;
  mixer.prepare(run, chunk, keys);
  return keys;
}

}  // namespace linnet
