// taylor.cpp -- features of the second-order Taylor series of exp: phi(q) . phi(k) = 1 + s + s^2/2.
//
// Forward, head by head: z = x W / r^(1/4) with W (D,r), s = z_q . z_k, and
//   phi = [1, z_a, z_a^2 / sqrt(2), z_a z_b for a < b]:  F = 1 + r + r (r + 1) / 2.
// The features may be negative, their product never: 1 + s + s^2/2 >= 1/2.
// Backward: dz_a = dphi_a + sqrt(2) z_a dphi_aa + sum_b z_b dphi_ab, then as linear.
// Cost: 2 D r + r^2 a head and token. Kept: nothing but x. r = 16 (at most D) unless given.
// Paper: Arora et al., "Simple linear attention language models balance the recall-throughput
// tradeoff" (Based), 2024.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "features/head_matrices.h"
#include "layers/linear.h"

namespace linnet {
namespace {

constexpr int64_t kWidest = 128;  // 8,385 features
constexpr float kRoot2 = 1.41421356f;

float shrink(const FeaturePlan& plan) { return std::pow(static_cast<float>(plan.rank), -0.25f); }

void build(ParamLayout& layout, const std::string& name, FeaturePlan& plan) {
  if (plan.rank > kWidest) {
    throw Error(fmt::format("{} r={} would make {} features a head; at most {}", plan.place,
                            plan.rank, 1 + plan.rank + plan.rank * (plan.rank + 1) / 2, kWidest));
  }
  if (plan.rank == 0) plan.rank = std::min<int64_t>(16, plan.in);
  plan.out = 1 + plan.rank + plan.rank * (plan.rank + 1) / 2;
  add_head_matrices(layout, name + ".weight", plan.in, plan.rank, {}, plan);
}

// phi of one head from z before its scaling.
template <class Number>
void expand(int64_t r, Number factor, const Number* z, Number* phi) {
  *phi++ = 1;
  for (int64_t a = 0; a < r; ++a) *phi++ = factor * z[a];
  for (int64_t a = 0; a < r; ++a) {
    const Number left = factor * factor * z[a];
    *phi++ = left * z[a] / Number(std::sqrt(2.0));
    for (int64_t b = a + 1; b < r; ++b) *phi++ = left * z[b];
  }
}

void activate_from(const FeaturePlan& plan, int64_t rows, ConstMat z, int64_t stride, Mat phi) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t h = 0; h < plan.heads; ++h)
      expand(plan.rank, shrink(plan), z.row(i) + h * stride, phi.row(i) + h * plan.out);
  }
}

void forward(const FeatureRun& run, int64_t rows, ConstMat x, Mat phi) {
  const FeaturePlan& plan = run.plan;
  Arena::Scope scope(run.scratch);
  const Mat z = take_mat(run.scratch, rows, plan.heads * plan.rank);
  heads_forward(run, 0, rows, x, z);
  activate_from(plan, rows, z, plan.rank, phi);
}

void activate(const FeatureRun& run, int64_t rows, ConstMat x, Mat phi) {
  activate_from(run.plan, rows, x, run.plan.in, phi);
}

void backward(const FeatureRun& run, int64_t rows, ConstMat x, ConstMat phi, Mat dphi, Mat dx,
              float* grads) {
  const FeaturePlan& plan = run.plan;
  const int64_t r = plan.rank;
  Arena::Scope scope(run.scratch);
  const Mat dz = take_mat(run.scratch, rows, plan.heads * r);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t h = 0; h < plan.heads; ++h) {
      // Scaled z is in phi itself.
      const float *z = phi.row(i) + h * plan.out + 1, *owed = dphi.row(i) + h * plan.out + 1;
      float* out = dz.row(i) + h * r;
      std::copy_n(owed, r, out);
      owed += r;
      for (int64_t a = 0; a < r; ++a) {
        out[a] += *owed++ * kRoot2 * z[a];
        for (int64_t b = a + 1; b < r; ++b, ++owed) {
          out[a] += *owed * z[b];
          out[b] += *owed * z[a];
        }
      }
      for (int64_t a = 0; a < r; ++a) out[a] *= shrink(plan);
    }
  }
  heads_backward(run, 0, rows, x, dz, dx, false, grads);
}

void reference(const FeaturePlan& plan, const Complex* params, int64_t head, const Complex* x,
               Complex* phi) {
  std::vector<Complex> z(static_cast<size_t>(plan.rank));
  head_reference(plan.matrix(0, head), params, x, z.data());
  expand(plan.rank, Complex(std::pow(static_cast<double>(plan.rank), -0.25)), z.data(), phi);
}

}  // namespace

extern const Feature kTaylorFeature = {
    .name = "taylor",
    .formula = "[1, z, z z^T / sqrt(2)], z = x W",
    .summary = "1 + s + s^2/2 instead of exp(s): close to softmax, with r^2/2 features",
    .paper = "Arora et al. 2024",
    .cost = "O(D r + r^2)",
    .positive = true,
    .options = "r",
    .build = build,
    .forward = forward,
    .backward = backward,
    .activate = activate,
    .reference = reference,
};

}  // namespace linnet
