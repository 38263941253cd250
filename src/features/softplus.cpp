// softplus.cpp -- phi(x) = Softplus(x W): the single-layer trainable kernel, plain or orthogonal.
//
// Forward, head by head: p = x W (D,F), phi = log(1 + exp(p)) > 0.
// Backward: dp = dphi * sigmoid(p), and sigmoid(p) = 1 - exp(-phi), so that only phi is kept;
//   dx = dp W^T,  dW += x^T dp.
// Orthogonal: W from the QR of a normal matrix, pulled towards W W^T = I in training.
// Cost: 2 D F a head and token. Kept: phi.
// Paper: Yorsh and Kovalenko, "Linear Self-Attention Approximation via Trainable Feedforward
// Kernel", 2022.
#include "features/head_matrices.h"
#include "kernels/activations.h"

namespace linnet {
namespace {

void build_with(ParamLayout& layout, const std::string& name, FeaturePlan& plan,
                const HeadInit& init) {
  if (plan.out == 0) plan.out = plan.in;
  add_head_matrices(layout, name + ".weight", plan.in, plan.out, init, plan);
}
void build(ParamLayout& layout, const std::string& name, FeaturePlan& plan) {
  build_with(layout, name, plan, {});
}
void build_orthogonal(ParamLayout& layout, const std::string& name, FeaturePlan& plan) {
  build_with(layout, name, plan, {.init = Init::orthogonal, .orthogonal = true});
}

void forward(const FeatureRun& run, int64_t rows, ConstMat x, Mat phi) {
  heads_forward(run, 0, rows, x, phi);
  softplus_forward(rows, run.plan.heads * run.plan.out, phi, phi);
}

void backward(const FeatureRun& run, int64_t rows, ConstMat x, ConstMat phi, Mat dphi, Mat dx,
              float* grads) {
  // phi = softplus(p), so dp = dphi (1 - exp(-phi)); in place.
  softplus_backward(rows, run.plan.heads * run.plan.out, phi, dphi, dphi);
  heads_backward(run, 0, rows, x, dphi, dx, false, grads);
}

void activate(const FeatureRun& run, int64_t rows, ConstMat x, Mat phi) {
  const FeaturePlan& plan = run.plan;
  if (plan.in == plan.out) return softplus_forward(rows, plan.heads * plan.out, x, phi);
  for (int64_t h = 0; h < plan.heads; ++h)
    softplus_forward(rows, plan.out, x.columns(h * plan.in), phi.columns(h * plan.out));
}

void reference(const FeaturePlan& plan, const Complex* params, int64_t head, const Complex* x,
               Complex* phi) {
  head_reference(plan.matrix(0, head), params, x, phi);
  for (int64_t f = 0; f < plan.out; ++f) {
    const Complex p = phi[f];
    phi[f] = p.real() > 0 ? p + std::log(1.0 + std::exp(-p)) : std::log(1.0 + std::exp(p));
  }
}

}  // namespace

extern const Feature kSoftplusFeature = {
    .name = "softplus",
    .formula = "Softplus(x W)",
    .summary = "one trainable layer a head, the paper's linear kernel: the default",
    .paper = "Yorsh and Kovalenko 2022",
    .cost = "O(D F)",
    .positive = true,
    .options = "f",
    .build = build,
    .forward = forward,
    .backward = backward,
    .activate = activate,
    .reference = reference,
};

extern const Feature kOrthogonalSoftplusFeature = {
    .name = "orth-softplus",
    .formula = "Softplus(x W), W W^T = I",
    .summary = "the same with W held near orthogonal: features that do not repeat each other",
    .paper = "Yorsh and Kovalenko 2022",
    .cost = "O(D F)",
    .positive = true,
    .options = "f",
    .build = build_orthogonal,
    .forward = forward,
    .backward = backward,
    .activate = activate,
    .reference = reference,
};

}  // namespace linnet
