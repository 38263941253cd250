// norm.cpp -- each head's vector to mean 0 and variance 1: the normalisation between layers of phi.
//
// LayerNorm over the D numbers of a head, without parameters (kernels/rows.h has the adjoint).
// Paper: Yorsh and Kovalenko 2022 ("with or without normalization layers in between").
#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "features/feature.h"
#include "kernels/rows.h"

namespace linnet {
namespace {

constexpr float kEps = 1e-6f;

void build(ParamLayout&, const std::string&, FeaturePlan& plan) {
  if (plan.in == 1) throw Error(fmt::format("{} one number has no deviation", plan.place));
  plan.out = plan.in;
}

void forward(const FeatureRun& run, int64_t rows, ConstMat x, Mat phi) {
  const int64_t D = run.plan.in;
  Arena::Scope scope(run.scratch);
  float *ones = run.scratch.take(D), *zeros = run.scratch.take_zeroed(D);
  std::fill_n(ones, D, 1.0f);
  for (int64_t h = 0; h < run.plan.heads; ++h)
    layer_norm_forward(rows, D, x.columns(h * D), ones, zeros, kEps, phi.columns(h * D));
}

void backward(const FeatureRun& run, int64_t rows, ConstMat x, ConstMat, Mat dphi, Mat dx, float*) {
  const int64_t D = run.plan.in;
  Arena::Scope scope(run.scratch);
  float *ones = run.scratch.take(D), *unused = run.scratch.take_zeroed(D);
  std::fill_n(ones, D, 1.0f);
  for (int64_t r = 0; r < rows; ++r) std::fill_n(dx.row(r), run.plan.heads * D, 0.0f);
  for (int64_t h = 0; h < run.plan.heads; ++h) {
    layer_norm_backward(rows, D, x.columns(h * D), ones, kEps, dphi.columns(h * D),
                        dx.columns(h * D), unused, unused);
  }
}

void reference(const FeaturePlan& plan, const Complex*, int64_t, const Complex* x, Complex* phi) {
  const auto D = static_cast<double>(plan.in);
  Complex mean = 0, squares = 0;
  for (int64_t d = 0; d < plan.in; ++d) mean += x[d] / D;
  for (int64_t d = 0; d < plan.in; ++d) squares += (x[d] - mean) * (x[d] - mean) / D;
  for (int64_t d = 0; d < plan.in; ++d)
    phi[d] = (x[d] - mean) / std::sqrt(squares + static_cast<double>(kEps));
}

}  // namespace

extern const Feature kNormFeature = {
    .name = "norm",
    .formula = "(x - mean) / sd",
    .summary = "between the layers of a longer chain, e.g. linear>norm>softplus",
    .paper = "Yorsh and Kovalenko 2022",
    .cost = "O(D)",
    .positive = false,
    .options = "",
    .build = build,
    .forward = forward,
    .backward = backward,
    .activate = nullptr,
    .reference = reference,
};

}  // namespace linnet
