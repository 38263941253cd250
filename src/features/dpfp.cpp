// dpfp.cpp -- phi from products of neighbours: sparse features without parameters.
//
// Forward, head by head: a = max([x, -x], 0) (2 D), phi_i = a_i a_(i+1), the last beside the first.
// Backward: da_i = dphi_i a_(i+1) + dphi_(i-1) a_(i-1);  dx = da_+ where x > 0, -da_- where x < 0.
// Cost: 2 D a head and token. F = 2 D. Kept: nothing but x.
// Paper: Schlag et al., "Linear Transformers are secretly fast weight programmers", 2021 (nu = 1).
#include <algorithm>
#include <vector>

#include "features/feature.h"

namespace linnet {
namespace {

void build(ParamLayout&, const std::string&, FeaturePlan& plan) { plan.out = 2 * plan.in; }

// a of one head.
template <class Number, class IsPositive>
void halves(int64_t D, const Number* x, const IsPositive& is_positive, Number* a) {
  for (int64_t d = 0; d < D; ++d) {
    a[d] = is_positive(x[d]) ? x[d] : Number(0);
    a[D + d] = is_positive(-x[d]) ? -x[d] : Number(0);
  }
}
bool above_zero(float x) { return x > 0; }

void forward(const FeatureRun& run, int64_t rows, ConstMat x, Mat phi) {
  const int64_t D = run.plan.in, F = run.plan.out;
  Arena::Scope scope(run.scratch);
  float* a = run.scratch.take(F);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t h = 0; h < run.plan.heads; ++h) {
      halves(D, x.row(r) + h * D, above_zero, a);
      float* out = phi.row(r) + h * F;
      for (int64_t i = 0; i + 1 < F; ++i) out[i] = a[i] * a[i + 1];
      out[F - 1] = a[F - 1] * a[0];
    }
  }
}

void backward(const FeatureRun& run, int64_t rows, ConstMat x, ConstMat, Mat dphi, Mat dx, float*) {
  const int64_t D = run.plan.in, F = run.plan.out;
  Arena::Scope scope(run.scratch);
  float *a = run.scratch.take(F), *da = run.scratch.take(F);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t h = 0; h < run.plan.heads; ++h) {
      const float *in = x.row(r) + h * D, *owed = dphi.row(r) + h * F;
      halves(D, in, above_zero, a);
      for (int64_t i = 0; i < F; ++i) {
        const int64_t next = i + 1 < F ? i + 1 : 0, before = i > 0 ? i - 1 : F - 1;
        da[i] = owed[i] * a[next] + owed[before] * a[before];
      }
      float* out = dx.row(r) + h * D;
      for (int64_t d = 0; d < D; ++d) out[d] = in[d] > 0 ? da[d] : in[d] < 0 ? -da[D + d] : 0.0f;
    }
  }
}

void reference(const FeaturePlan& plan, const Complex*, int64_t, const Complex* x, Complex* phi) {
  std::vector<Complex> a(static_cast<size_t>(plan.out));
  halves(
      plan.in, x, [](Complex z) { return z.real() > 0; }, a.data());
  for (size_t i = 0; i < a.size(); ++i) phi[i] = a[i] * a[(i + 1) % a.size()];
}

}  // namespace

extern const Feature kDpfpFeature = {
    .name = "dpfp",
    .formula = "a_i a_(i+1), a = max([x, -x], 0)",
    .summary = "products of neighbours: twice the features without parameters",
    .paper = "Schlag et al. 2021",
    .cost = "O(D)",
    .positive = true,
    .options = "",
    .build = build,
    .forward = forward,
    .backward = backward,
    .activate = nullptr,
    .reference = reference,
};

}  // namespace linnet
