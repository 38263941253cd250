// linear.cpp -- x W: a layer without activation, for deeper chains.
//
// Backward: dx = dphi W^T, dW += x^T dphi. Cost: 2 D F a head and token.
// Paper: Yorsh and Kovalenko 2022 ("we also tried to stack more layers").
#include "features/head_matrices.h"
#include "kernels/rows.h"

namespace linnet {
namespace {

void build(ParamLayout& layout, const std::string& name, FeaturePlan& plan) {
  if (plan.out == 0) plan.out = plan.in;
  add_head_matrices(layout, name + ".weight", plan.in, plan.out, {}, plan);
}

void forward(const FeatureRun& run, int64_t rows, ConstMat x, Mat phi) {
  heads_forward(run, 0, rows, x, phi);
}

void backward(const FeatureRun& run, int64_t rows, ConstMat x, ConstMat, Mat dphi, Mat dx,
              float* grads) {
  heads_backward(run, 0, rows, x, dphi, dx, false, grads);
}

void activate(const FeatureRun& run, int64_t rows, ConstMat x, Mat phi) {
  const FeaturePlan& plan = run.plan;
  for (int64_t h = 0; h < plan.heads; ++h)
    copy_rows(rows, plan.out, x.columns(h * plan.in), phi.columns(h * plan.out));
}

void reference(const FeaturePlan& plan, const Complex* params, int64_t head, const Complex* x,
               Complex* phi) {
  head_reference(plan.matrix(0, head), params, x, phi);
}

}  // namespace

extern const Feature kLinearFeature = {
    .name = "linear",
    .formula = "x W",
    .summary = "a layer inside a longer chain, e.g. linear>gelu>softplus",
    .paper = "Yorsh and Kovalenko 2022",
    .cost = "O(D F)",
    .positive = false,
    .options = "f",
    .build = build,
    .forward = forward,
    .backward = backward,
    .activate = activate,
    .reference = reference,
};

}  // namespace linnet
