// chain.h -- a whole phi: stages in a row, the first sees a head's query or key, the last is what
// attention sees.
//
// Nothing is kept between the stages: the backward computes the values inside the chain again.
#pragma once

#include "features/feature.h"

namespace linnet {

struct FeatureStage {
  const Feature* kind;
  FeaturePlan plan;
};

struct FeatureChain {
  int64_t heads = 0, in = 0, out = 0;  // H, D, F
  std::vector<FeatureStage> stages;
  // Multiplications and additions of one application to a token, all heads; folded: without the
  // product that inference folds away.
  double flops(bool folded) const;
  // The first product can be folded into the projection in front.
  bool folds() const;
};

// The phi of `text` (phi_text.h), parameters below `name`: of stage i below name.i, or of the only
// stage below name itself.
FeatureChain build_chain(ParamLayout& layout, const std::string& name, std::string_view text,
                         int64_t heads, int64_t in);

// phi [rows, H*F] of x [rows, H*D]. folded: x comes from folded projections.
void chain_forward(const FeatureChain& chain, const Weights& weights, int64_t rows, ConstMat x,
                   bool folded, Mat phi, Arena& scratch);
// dx = the input gradient, parameters' gradients +=; dphi is used up.
void chain_backward(const FeatureChain& chain, const Weights& weights, int64_t rows, ConstMat x,
                    ConstMat phi, Mat dphi, Mat dx, float* grads, Arena& scratch);

// Folds the first product into `weight` [in_rows, H*D] and `bias` [H*D] in front, in place:
// W' = weight W, b' = bias W, each head in its own columns; columns that are left over are zero.
void chain_fold(const FeatureChain& chain, const float* params, int64_t in_rows, float* weight,
                float* bias);

// The definition for one head, for tests.
void chain_reference(const FeatureChain& chain, const Complex* params, int64_t head,
                     const Complex* x, Complex* phi);

}  // namespace linnet
