// hedgehog.cpp -- phi(x) = softmax([x W, -x W]): spiky features, exp in both directions.
//
// Forward, head by head: p = x W (D, F/2), phi = exp([p, -p]) / sum: bounded by 1, so that no input
// overflows; for queries the division cancels in attention.
// Backward, with l = phi (dphi - phi . dphi): dp = l_+ - l_-, then as linear.
// Cost: D F a head and token. Kept: phi. F = 2 D unless given.
// Paper: Zhang et al., "The Hedgehog & the Porcupine", 2024.
#include <fmt/format.h>

#include "core/error.h"
#include "features/head_matrices.h"
#include "kernels/rows.h"
#include "kernels/softmax.h"
#include "layers/linear.h"

namespace linnet {
namespace {

void build(ParamLayout& layout, const std::string& name, FeaturePlan& plan) {
  if (plan.out % 2 != 0) {
    throw Error(fmt::format("{} f={} must be even: half for exp(x W), half for exp(-x W)",
                            plan.place, plan.out));
  }
  if (plan.out == 0) plan.out = 2 * plan.in;
  add_head_matrices(layout, name + ".weight", plan.in, plan.out / 2, {}, plan);
}

void activate_from(const FeaturePlan& plan, int64_t rows, ConstMat p, int64_t stride, Mat phi) {
  const int64_t half = plan.out / 2;
  for (int64_t h = 0; h < plan.heads; ++h) {
    const Mat out = phi.columns(h * plan.out);
    for (int64_t r = 0; r < rows; ++r) {
      const float* in = p.row(r) + h * stride;
      for (int64_t f = 0; f < half; ++f) out.row(r)[f] = in[f];
      for (int64_t f = 0; f < half; ++f) out.row(r)[half + f] = -in[f];
    }
    softmax_rows(rows, plan.out, out);
  }
}

void forward(const FeatureRun& run, int64_t rows, ConstMat x, Mat phi) {
  const FeaturePlan& plan = run.plan;
  Arena::Scope scope(run.scratch);
  const Mat p = take_mat(run.scratch, rows, plan.heads * plan.out / 2);
  heads_forward(run, 0, rows, x, p);
  activate_from(plan, rows, p, plan.out / 2, phi);
}

void activate(const FeatureRun& run, int64_t rows, ConstMat x, Mat phi) {
  activate_from(run.plan, rows, x, run.plan.in, phi);
}

void backward(const FeatureRun& run, int64_t rows, ConstMat x, ConstMat phi, Mat dphi, Mat dx,
              float* grads) {
  const FeaturePlan& plan = run.plan;
  const int64_t half = plan.out / 2;
  Arena::Scope scope(run.scratch);
  const Mat dp = take_mat(run.scratch, rows, plan.heads * half);
  float* delta = run.scratch.take(rows);
  for (int64_t h = 0; h < plan.heads; ++h) {
    const ConstMat value = phi.columns(h * plan.out);
    const Mat l = dphi.columns(h * plan.out);
    row_dots(rows, plan.out, value, l, delta);
    softmax_backward(rows, plan.out, value, delta, l);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t f = 0; f < half; ++f) dp.row(r)[h * half + f] = l.row(r)[f] - l.row(r)[half + f];
    }
  }
  heads_backward(run, 0, rows, x, dp, dx, false, grads);
}

void reference(const FeaturePlan& plan, const Complex* params, int64_t head, const Complex* x,
               Complex* phi) {
  const int64_t half = plan.out / 2;
  head_reference(plan.matrix(0, head), params, x, phi);
  double highest = 0;
  for (int64_t f = 0; f < half; ++f) {
    phi[half + f] = -phi[f];
    highest = std::max(highest, std::abs(phi[f].real()));
  }
  Complex sum = 0;
  for (int64_t f = 0; f < plan.out; ++f) sum += phi[f] = std::exp(phi[f] - highest);
  for (int64_t f = 0; f < plan.out; ++f) phi[f] /= sum;
}

}  // namespace

extern const Feature kHedgehogFeature = {
    .name = "hedgehog",
    .formula = "softmax([x W, -x W])",
    .summary = "spiky like softmax: attends to few tokens; twice the features",
    .paper = "Zhang et al. 2024",
    .cost = "O(D F)",
    .positive = true,
    .options = "f",
    .build = build,
    .forward = forward,
    .backward = backward,
    .activate = activate,
    .reference = reference,
};

}  // namespace linnet
