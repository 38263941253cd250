// polynomial.cpp -- polynomial layers as phi: where the two papers meet. (The third, squares of the
// input, has no parameters and is in elementwise.cpp.)
//
//   relu2     p = x W, phi = max(p, 0)^2                    dp = dphi 2 sqrt(phi)
//   bilinear  a = x W1, b = x W2, phi = a b, at the end Softplus(a b)
//             da = dphi b, db = dphi a (kernels/pairs.h), a and b computed again
// Cost: 2 D F, bilinear 4 D F a head and token.
// Paper: Narybaev, "Why Transformers are good?"; ReLU squared is So et al. 2021.
#include "features/head_matrices.h"
#include "kernels/activations.h"
#include "kernels/pairs.h"
#include "layers/linear.h"

namespace linnet {
namespace {

void build_relu2(ParamLayout& layout, const std::string& name, FeaturePlan& plan) {
  if (plan.out == 0) plan.out = plan.in;
  add_head_matrices(layout, name + ".weight", plan.in, plan.out, {}, plan);
}

void forward_relu2(const FeatureRun& run, int64_t rows, ConstMat x, Mat phi) {
  heads_forward(run, 0, rows, x, phi);
  relu2_forward(rows, run.plan.heads * run.plan.out, phi, phi);
}

void backward_relu2(const FeatureRun& run, int64_t rows, ConstMat x, ConstMat, Mat dphi, Mat dx,
                    float* grads) {
  const int64_t columns = run.plan.heads * run.plan.out;
  Arena::Scope scope(run.scratch);
  const Mat p = take_mat(run.scratch, rows, columns);
  heads_forward(run, 0, rows, x, p);
  relu2_backward(rows, columns, p, dphi, dphi);
  heads_backward(run, 0, rows, x, dphi, dx, false, grads);
}

void activate_relu2(const FeatureRun& run, int64_t rows, ConstMat x, Mat phi) {
  const FeaturePlan& plan = run.plan;
  for (int64_t h = 0; h < plan.heads; ++h)
    relu2_forward(rows, plan.out, x.columns(h * plan.in), phi.columns(h * plan.out));
}

void reference_relu2(const FeaturePlan& plan, const Complex* params, int64_t head, const Complex* x,
                     Complex* phi) {
  head_reference(plan.matrix(0, head), params, x, phi);
  for (int64_t f = 0; f < plan.out; ++f) phi[f] = phi[f].real() > 0 ? phi[f] * phi[f] : 0;
}

Pair pair_of(const FeaturePlan& plan) { return plan.last ? Pair::softplus_product : Pair::product; }

void build_bilinear(ParamLayout& layout, const std::string& name, FeaturePlan& plan) {
  if (plan.out == 0) plan.out = plan.in;
  add_head_matrices(layout, name + ".left", plan.in, plan.out, {}, plan);
  add_head_matrices(layout, name + ".right", plan.in, plan.out, {}, plan);
}

void forward_bilinear(const FeatureRun& run, int64_t rows, ConstMat x, Mat phi) {
  const int64_t columns = run.plan.heads * run.plan.out;
  Arena::Scope scope(run.scratch);
  const Mat b = take_mat(run.scratch, rows, columns);
  heads_forward(run, 0, rows, x, phi);
  heads_forward(run, 1, rows, x, b);
  pair_forward(pair_of(run.plan), rows, columns, phi, b, phi);
}

void backward_bilinear(const FeatureRun& run, int64_t rows, ConstMat x, ConstMat, Mat dphi, Mat dx,
                       float* grads) {
  const int64_t columns = run.plan.heads * run.plan.out;
  Arena::Scope scope(run.scratch);
  const Mat a = take_mat(run.scratch, rows, columns), b = take_mat(run.scratch, rows, columns);
  heads_forward(run, 0, rows, x, a);
  heads_forward(run, 1, rows, x, b);
  pair_backward(pair_of(run.plan), rows, columns, a, b, dphi, {}, a, b);
  heads_backward(run, 0, rows, x, a, dx, false, grads);
  heads_backward(run, 1, rows, x, b, dx, true, grads);
}

void reference_bilinear(const FeaturePlan& plan, const Complex* params, int64_t head,
                        const Complex* x, Complex* phi) {
  std::vector<Complex> b(static_cast<size_t>(plan.out));
  head_reference(plan.matrix(0, head), params, x, phi);
  head_reference(plan.matrix(1, head), params, x, b.data());
  for (int64_t f = 0; f < plan.out; ++f)
    phi[f] = exact_pair(pair_of(plan), phi[f], b[static_cast<size_t>(f)]);
}

}  // namespace

extern const Feature kRelu2Feature = {
    .name = "relu2",
    .formula = "max(x W, 0)^2",
    .summary = "ReLU squared: sparse and quadratic",
    .paper = "Narybaev, Why Transformers are good?",
    .cost = "O(D F)",
    .positive = true,
    .options = "f",
    .build = build_relu2,
    .forward = forward_relu2,
    .backward = backward_relu2,
    .activate = activate_relu2,
    .reference = reference_relu2,
};

extern const Feature kBilinearFeature = {
    .name = "bilinear",
    .formula = "(x W1) (x W2), at the end Softplus of it",
    .summary = "products of two projections of the same input",
    .paper = "Narybaev, Why Transformers are good?",
    .cost = "O(D F)",
    .positive = true,
    .options = "f",
    .build = build_bilinear,
    .forward = forward_bilinear,
    .backward = backward_bilinear,
    .activate = nullptr,
    .reference = reference_bilinear,
};

}  // namespace linnet
