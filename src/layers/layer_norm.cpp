// layer_norm.cpp -- LayerNorm over the kernels.
#include "layers/layer_norm.h"

#include "kernels/rows.h"

namespace linnet {

LayerNorm add_layer_norm(ParamLayout& layout, const std::string& name, int64_t width, float eps) {
  LayerNorm norm{.width = width, .eps = eps};
  norm.weight = layout.add(name + ".weight", {width}, Init::ones, 0.0f, false);
  norm.bias = layout.add(name + ".bias", {width}, Init::zeros, 0.0f, false);
  return norm;
}

void norm_forward(const LayerNorm& norm, const Weights& weights, int64_t rows, ConstMat x,
                  Mat y) noexcept {
  layer_norm_forward(rows, norm.width, x, weights.params + norm.weight, weights.params + norm.bias,
                     norm.eps, y);
}

void norm_backward(const LayerNorm& norm, const Weights& weights, int64_t rows, ConstMat x,
                   ConstMat dy, Mat dx, float* grads) noexcept {
  layer_norm_backward(rows, norm.width, x, weights.params + norm.weight, norm.eps, dy, dx,
                      grads + norm.weight, grads + norm.bias);
}

}  // namespace linnet
