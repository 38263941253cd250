// layer_norm.h -- y = (x - mean) / sqrt(variance + eps) * weight + bias over each row.
//
// The derivation of the backward is beside its kernel, kernels/rows.h. Nothing is saved but x.
#pragma once

#include <string>

#include "core/view.h"
#include "layers/params.h"

namespace linnet {

struct LayerNorm {
  int64_t width = 0, weight = 0, bias = 0;
  float eps = 1e-6f;
};

LayerNorm add_layer_norm(ParamLayout& layout, const std::string& name, int64_t width, float eps);
void norm_forward(const LayerNorm& norm, const Weights& weights, int64_t rows, ConstMat x,
                  Mat y) noexcept;
// dx += the norm's input gradient; the parameters' gradients += into `grads`.
void norm_backward(const LayerNorm& norm, const Weights& weights, int64_t rows, ConstMat x,
                   ConstMat dy, Mat dx, float* grads) noexcept;

}  // namespace linnet
