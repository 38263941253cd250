// short_conv.h -- y_t = sum_{j < w} c_j * x_{t-j}: a short convolution that looks back only, each
// channel by itself.
//
// x before the start of the sequence is zero. Chunk by chunk, the w-1 rows of x before a chunk
// stand in front of it. Backward of y_t = sum_j c_j * x_{t-j}:
//   dx_t = sum_{j < w} c_j * dy_{t+j},   dc_j += sum_t dy_t * x_{t-j}.
// So the chunks go by from the last to the first, and the w-1 rows of dy after a chunk stand behind
// it. Cost: 2 w C a token. Nothing is saved but x, which the caller has.
// Such convolutions before the token mixer: Fu et al. 2023 (H3), Gu and Dao 2023 (Mamba).
#pragma once

#include <algorithm>
#include <string>

#include "core/view.h"
#include "layers/params.h"

namespace linnet {

// Below the rows of a chunk, so that what a chunk needs of its neighbours is in one of them.
inline constexpr int64_t kMostTaps = 64;

struct ShortConv {
  int64_t width = 0, taps = 0;  // C, w; w = 0: there is none
  int64_t weight = 0;           // c [w, C]
  // Rows of a neighbour that a chunk needs, and those of them that exist before row `first`.
  int64_t halo() const { return std::max<int64_t>(taps - 1, 0); }
  int64_t halo(int64_t first) const { return std::min(halo(), first); }
};

// Parameter NAME.weight [taps, C]: the identity, c_0 = 1 and the others 0.
ShortConv add_short_conv(ParamLayout& layout, const std::string& name, int64_t width, int64_t taps);
// Rows -halo() .. -1 of x are those before the chunk. y may be x.
void conv_forward(const ShortConv& conv, const Weights& weights, int64_t rows, ConstMat x,
                  Mat y) noexcept;
// dx =, parameters' gradients +=. Rows -halo() .. -1 of x are those before the chunk, the halo()
// rows of dy from `rows` on those after it.
void conv_backward(const ShortConv& conv, const Weights& weights, int64_t rows, ConstMat x,
                   ConstMat dy, Mat dx, float* grads) noexcept;

}  // namespace linnet
