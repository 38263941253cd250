// strided.cpp -- exact softmax over neighbours and every l-th token.
//
// Forward, one head: y_i = sum_j softmax_j(q_i . k_j / sqrt(D)) v_j over the j with |i - j| < l, l
// = 128, and over the j with j mod l = l - 1, which can gather what their block of l holds; two
// blocks later it has reached every token. Causal: those of them with j <= i. Backward: that of
// softmax.cpp over the same j. Cost: 4 (2 l - 1 + T / l) D a head and token, by half if causal;
// least for l near sqrt(T). The state keeps every token. Paper: Child et al., "Generating long
// sequences with sparse transformers", 2019: the "fixed" summary columns, with the local part
// sliding; one pattern for all heads.
#include "mixers/pattern.h"

namespace linnet {
extern const Mixer kStridedMixer =
    PatternMixer<Pattern{.reach = 127, .globals = 0, .stride = 128}>::record(
        "strided", "softmax over |i - j| < 128 and j mod 128 = 127",
        "exact attention to 127 neighbours on each side and every 128th token", "Child et al. 2019",
        "O(T (l + T / l) D)");

}  // namespace linnet
