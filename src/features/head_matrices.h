// head_matrices.h -- one trainable matrix a head: what most stages of a phi are made of.
#pragma once

#include "features/feature.h"

namespace linnet {

struct HeadInit {
  Init init = Init::xavier;
  float gain = 1.0f;
  bool orthogonal = false;  // pulled towards W W^T = I in training
};
// Adds parameter `name` [H, in, out] and its matrices to the plan.
void add_head_matrices(ParamLayout& layout, const std::string& name, int64_t in, int64_t out,
                       const HeadInit& init, FeaturePlan& plan);

// y = x W head by head, for matrices `which`; x and y have `in` and `out` columns a head.
void heads_forward(const FeatureRun& run, int64_t which, int64_t rows, ConstMat x, Mat y);
// The same with x's heads `stride` columns apart.
void heads_forward(const FeatureRun& run, int64_t which, int64_t rows, ConstMat x, int64_t stride,
                   Mat y);
// dW += x^T dy, and dx = dy W^T or dx += dy W^T.
void heads_backward(const FeatureRun& run, int64_t which, int64_t rows, ConstMat x, ConstMat dy,
                    Mat dx, bool accumulate, float* grads);

// y = x W of one head, in the reference's numbers.
void head_reference(const Matrix& matrix, const Complex* params, const Complex* x, Complex* y);

}  // namespace linnet
