// window.cpp -- exact softmax over a window of neighbours, and one global token.
//
// Forward, one head: y_i = sum_j softmax_j(q_i . k_j / sqrt(D)) v_j over the j with |i - j| <= w,
// w = 128, and over the global tokens j < g, g = 1 (with CLS pooling that is CLS); the g first
// queries see everything. Causal: those of them with j <= i, so that a global query has nothing
// more to see. Backward: that of softmax.cpp over the same j.
// Cost: 4 (2 w + 1 + 2 g) D a head and token, by half if causal. The state keeps every token: a
// query that comes later may be a global one. A causal state would do with the last w and the first
// g tokens; it keeps all of them too, since the backward asks for all of them.
// Paper: Beltagy et al., "Longformer: the long-document transformer", 2020; unlike there, global
// tokens have no projections of their own.
#include "mixers/pattern.h"

namespace linnet {
extern const Mixer kWindowMixer =
    PatternMixer<Pattern{.reach = 128, .globals = 1, .stride = 0}>::record(
        "window", "softmax over |i - j| <= 128 and token 0, which sees all",
        "exact attention to 128 neighbours on each side and one global token",
        "Beltagy et al. 2020", "O(T w D)");

}  // namespace linnet
