// orthogonality.h -- the regulariser of orthogonal feature maps: lambda * mean((W W^T - I)^2).
#pragma once

#include "core/context.h"
#include "models/model.h"

namespace linnet {

// The penalty of all matrices that the layout keeps orthogonal (W^T W where out < in): the mean
// over the entries, averaged over the heads of a parameter, summed over parameters, times lambda.
// Its gradient times `scale` is added to grads: with P = mean((W W^T - I)^2) over n x n entries,
// dP/dW = 4/n^2 (W W^T - I) W. The result does not depend on the number of threads.
double add_orthogonality(Context& context, const ParamLayout& layout, double lambda, double scale,
                         const float* values, float* grads);

// max |W W^T - I| over all of them; 0 without any.
double worst_orthogonality(const ParamLayout& layout, const float* values);

}  // namespace linnet
