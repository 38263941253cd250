// orthogonality.h -- the regulariser of orthogonal feature maps: pulls W towards W W^T = I.
//
// The paper adds lambda * mean((W W^T - I)^2) to the loss. Through Adam that hardly holds: the mean
// divides by D^2, and Adam by the size of the loss's gradient. So it is decoupled, as AdamW
// decouples decay: after each step W <- W - 2 lambda (W W^T - I) W, the gradient step of
// P = lambda / 2 sum((W W^T - I)^2), which shrinks what is left of W W^T - I by about 4 lambda.
#pragma once

#include "core/context.h"
#include "models/model.h"

namespace linnet {

// dP/dW of one matrix [in, out]; W^T W takes the place of W W^T where out < in.
std::vector<float> orthogonality_gradient(const Matrix& m, double lambda, const float* values);

// One step for every matrix that the layout keeps orthogonal. The result does not depend on the
// number of threads.
void pull_orthogonal(Context& context, const ParamLayout& layout, double lambda, float* values);

// max |W W^T - I| over all of them; 0 without any.
double worst_orthogonality(const ParamLayout& layout, const float* values);

}  // namespace linnet
