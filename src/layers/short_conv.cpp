// short_conv.cpp -- the short convolution over its kernel; its adjoint is itself in reversed time.
#include "layers/short_conv.h"

#include "kernels/short_conv.h"

namespace linnet {

ShortConv add_short_conv(ParamLayout& layout, const std::string& name, int64_t width,
                         int64_t taps) {
  return {.width = width,
          .taps = taps,
          .weight = layout.add(name + ".weight", {taps, width}, Init::first_ones, 0.0f, false)};
}

void conv_forward(const ShortConv& conv, const Weights& weights, int64_t rows, ConstMat x,
                  Mat y) noexcept {
  convolve(rows, conv.width, conv.taps, weights.params + conv.weight, x, y);
}

void conv_backward(const ShortConv& conv, const Weights& weights, int64_t rows, ConstMat x,
                   ConstMat dy, Mat dx, float* grads) noexcept {
  // y_t = sum_j c_j * x_{t-j}, so dc_j += sum_t dy_t * x_{t-j}.
  convolve_backward_weights(rows, conv.width, conv.taps, x, dy, grads + conv.weight);
  // And dx_t = sum_j c_j * dy_{t+j}: with the rows counted from the last one down, the forward.
  convolve(rows, conv.width, conv.taps, weights.params + conv.weight, {dy.row(rows - 1), -dy.ld},
           {dx.row(rows - 1), -dx.ld});
}

}  // namespace linnet
