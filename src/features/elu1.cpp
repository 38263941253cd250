// elu1.cpp -- phi(x) = elu(x) + 1: the parameter-free kernel of the Linear Transformer.
//
// Forward: phi = x + 1 above 0, exp(x) below. Backward: dx = dphi * min(phi, 1), since phi' is 1
// above 0 and exp(x) = phi below. Kept: phi. Paper: Katharopoulos et al., "Transformers are RNNs",
// 2020.
#include "core/error.h"
#include "features/feature.h"
#include "kernels/activations.h"

namespace linnet {
namespace {

void build(ParamLayout&, const std::string&, FeaturePlan& plan) {
  if (plan.out == 0) plan.out = plan.in;
  if (plan.out != plan.in)
    throw Error("[config.features] phi \"elu1\" has as many features as the head is wide");
}

void forward(const FeaturePlan& plan, const Weights&, int64_t rows, ConstMat x, Mat phi) {
  elu1_forward(rows, plan.heads * plan.out, x, phi);
}

void backward(const FeaturePlan& plan, const Weights&, int64_t rows, ConstMat, ConstMat phi,
              Mat dphi, Mat dx, float*, Arena&) {
  elu1_backward(rows, plan.heads * plan.out, phi, dphi, dx);
}

void reference(const FeaturePlan& plan, const Complex*, int64_t, const Complex* x, Complex* phi) {
  for (int64_t d = 0; d < plan.in; ++d) phi[d] = x[d].real() > 0 ? x[d] + 1.0 : std::exp(x[d]);
}

}  // namespace

extern const Feature kElu1Feature = {
    .name = "elu1",
    .formula = "elu(x) + 1",
    .summary = "no parameters; the Linear Transformer's kernel",
    .paper = "Katharopoulos et al. 2020",
    .build = build,
    .forward = forward,
    .backward = backward,
    .fold = nullptr,
    .activate = nullptr,
    .reference = reference,
};

}  // namespace linnet
