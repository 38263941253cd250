// softmax.h -- exact attention as a part of other kinds: of a few queries to all tokens, or of all
// tokens to a few keys.
#pragma once

#include "mixers/mixer.h"

namespace linnet {

extern const Mixer kSoftmaxMixer;

// The rows of a softmax state whose tokens were absorbed with `keep`; in dstate, what is owed to
// them.
struct KeyValues {
  Mat k, v;
};
KeyValues key_values(const MixerPlan& plan, const MixerState& state);

// The definition, for tests: what the query q [C] gives to each of `count` keys [count,C] in head
// h, and the answers y [rows,C] of `rows` queries.
std::vector<Complex> exact_weights(const MixerPlan& plan, int64_t h, const Complex* q,
                                   int64_t count, const Complex* k);
void exact_attention(const MixerPlan& plan, int64_t rows, const Complex* q, int64_t count,
                     const Complex* k, const Complex* v, Complex* y);

}  // namespace linnet
