// favor.cpp -- FAVOR+: positive random features of the softmax kernel, not trained.
//
// Forward, head by head, with x' = x / D^(1/4) and columns w_f of a fixed W (D,F), orthogonal in
// blocks of D and as long as normal vectors:
//   e_f = exp(w_f . x' - |x'|^2 / 2),   phi_f = (e_f + 1e-6) / sqrt(F)
// so that the mean of phi(q) . phi(k) over draws of W is exp(q . k / sqrt(D)) but for the 1e-6,
// which keeps phi positive where every e vanishes. w . x' - |x'|^2 / 2 <= |w|^2 / 2: no overflow.
// Backward, with l_f = dphi_f e_f / sqrt(F): dx' = sum_f l_f (w_f - x').
// W is part of the file; `redraw` draws it anew every so many steps of training.
// Cost: 2 D F a head and token. Kept: phi.
// Paper: Choromanski et al., "Rethinking attention with Performers", 2021.
#include <cmath>

#include "features/head_matrices.h"
#include "kernels/activations.h"
#include "kernels/rows.h"
#include "layers/linear.h"

namespace linnet {
namespace {

constexpr float kFloor = 1e-6f;

float shrink(const FeaturePlan& plan) { return std::pow(static_cast<float>(plan.in), -0.25f); }
float spread(const FeaturePlan& plan) { return std::sqrt(static_cast<float>(plan.out)); }

void build(ParamLayout& layout, const std::string& name, FeaturePlan& plan) {
  if (plan.out == 0) plan.out = plan.in;
  const int64_t weight = layout.add_fixed(name + ".projection", {plan.heads, plan.in, plan.out},
                                          Init::orthogonal_normal, plan.redraw);
  for (int64_t h = 0; h < plan.heads; ++h)
    plan.matrices.push_back(layout.matrix(weight + h * plan.in * plan.out, plan.in, plan.out));
}

// x' of all heads.
Mat shrunk(const FeatureRun& run, int64_t rows, ConstMat x) {
  const int64_t columns = run.plan.heads * run.plan.in;
  const Mat small = take_mat(run.scratch, rows, columns);
  for (int64_t r = 0; r < rows; ++r) {
    const float factor = shrink(run.plan);
    scale_rows(1, columns, x.rows(r), &factor, small.rows(r));
  }
  return small;
}

void forward(const FeatureRun& run, int64_t rows, ConstMat x, Mat phi) {
  const FeaturePlan& plan = run.plan;
  Arena::Scope scope(run.scratch);
  const Mat small = shrunk(run, rows, x);
  float* shift = run.scratch.take(rows);
  heads_forward(run, 0, rows, small, phi);
  for (int64_t h = 0; h < plan.heads; ++h) {
    const ConstMat part = small.columns(h * plan.in);
    const Mat out = phi.columns(h * plan.out);
    row_dots(rows, plan.in, part, part, shift);
    for (int64_t r = 0; r < rows; ++r) shift[r] *= 0.5f;
    exp_forward(rows, plan.out, out, shift, out);
  }
  const float factor = 1 / spread(plan);
  for (int64_t r = 0; r < rows; ++r) {
    float* row = phi.row(r);
    for (int64_t c = 0; c < plan.heads * plan.out; ++c) row[c] = (row[c] + kFloor) * factor;
  }
}

void backward(const FeatureRun& run, int64_t rows, ConstMat x, ConstMat phi, Mat dphi, Mat dx,
              float*) {
  const FeaturePlan& plan = run.plan;
  Arena::Scope scope(run.scratch);
  const float root = spread(plan), factor = shrink(plan);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < plan.heads * plan.out; ++c)
      dphi.row(r)[c] *= phi.row(r)[c] - kFloor / root;
  }
  const Mat small = shrunk(run, rows, x);
  for (int64_t h = 0; h < plan.heads; ++h) {
    const Mat part = dx.columns(h * plan.in), l = dphi.columns(h * plan.out);
    matrix_backward_input(plan.matrix(0, h), run.weights, rows, l, part);
    for (int64_t r = 0; r < rows; ++r) {
      float total = 0;
      for (int64_t f = 0; f < plan.out; ++f) total += l.row(r)[f];
      add_scaled(plan.in, -total, small.row(r) + h * plan.in, part.row(r));
      scale(plan.in, factor, part.row(r));
    }
  }
}

void reference(const FeaturePlan& plan, const Complex* params, int64_t head, const Complex* x,
               Complex* phi) {
  const auto D = static_cast<size_t>(plan.in);
  std::vector<Complex> small(x, x + plan.in);
  Complex squares = 0;
  for (size_t d = 0; d < D; ++d) {
    small[d] *= std::pow(static_cast<double>(D), -0.25);
    squares += small[d] * small[d];
  }
  head_reference(plan.matrix(0, head), params, small.data(), phi);
  for (int64_t f = 0; f < plan.out; ++f) {
    phi[f] = (std::exp(phi[f] - 0.5 * squares) + static_cast<double>(kFloor)) /
             std::sqrt(static_cast<double>(plan.out));
  }
}

}  // namespace

extern const Feature kFavorFeature = {
    .name = "favor",
    .formula = "exp(w . x - |x|^2 / 2) / sqrt(F), w random",
    .summary = "an unbiased estimate of softmax attention, the Performer's; not trained",
    .paper = "Choromanski et al. 2021",
    .cost = "O(D F)",
    .positive = true,
    .options = "f redraw",
    .build = build,
    .forward = forward,
    .backward = backward,
    .activate = nullptr,
    .reference = reference,
};

}  // namespace linnet
