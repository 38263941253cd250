// softplus.cpp -- phi(x) = Softplus(x W): the single-layer trainable kernel.
//
// Forward, head by head: p = x W (D,F), phi = log(1 + exp(p)) > 0.
// Backward: dp = dphi * sigmoid(p), and sigmoid(p) = 1 - exp(-phi), so that only phi is kept;
//   dx = dp W^T,  dW += x^T dp.
// Cost: 2 D F a head and token. Kept: phi.
// Paper: Yorsh and Kovalenko, "Linear Self-Attention Approximation via Trainable Feedforward
// Kernel", 2022.
#include "features/feature.h"
#include "kernels/activations.h"
#include "layers/linear.h"

namespace linnet {
namespace {

void build(ParamLayout& layout, const std::string& name, FeaturePlan& plan) {
  if (plan.out == 0) plan.out = plan.in;
  const int64_t weight =
      layout.add(name + ".weight", {plan.heads, plan.in, plan.out}, Init::xavier, 1.0f, true);
  for (int64_t h = 0; h < plan.heads; ++h) {
    plan.matrices.push_back(layout.matrix(weight + h * plan.in * plan.out, plan.in, plan.out));
  }
}

void forward(const FeaturePlan& plan, const Weights& weights, int64_t rows, ConstMat x, Mat phi) {
  for (int64_t h = 0; h < plan.heads; ++h) {
    matrix_forward(plan.matrices[static_cast<size_t>(h)], weights, rows, x.columns(h * plan.in),
                   phi.columns(h * plan.out));
  }
  softplus_forward(rows, plan.heads * plan.out, phi, phi);
}

void backward(const FeaturePlan& plan, const Weights& weights, int64_t rows, ConstMat x,
              ConstMat phi, Mat dphi, Mat dx, float* grads, Arena& scratch) {
  // phi = softplus(p), so dp = dphi (1 - exp(-phi)); in place.
  softplus_backward(rows, plan.heads * plan.out, phi, dphi, dphi);
  for (int64_t h = 0; h < plan.heads; ++h) {
    const Matrix& m = plan.matrices[static_cast<size_t>(h)];
    const Mat dp = dphi.columns(h * plan.out);
    matrix_backward_weights(m, rows, x.columns(h * plan.in), dp, grads, scratch);
    matrix_backward_input(m, weights, rows, dp, dx.columns(h * plan.in));
  }
}

void fold(const FeaturePlan& plan, const float* params, int64_t in_rows, float* weight,
          float* bias) {
  const int64_t D = plan.in, C = plan.heads * D;
  std::vector<double> sum(static_cast<size_t>(D));
  for (int64_t r = 0; r <= in_rows; ++r) {
    float* row = r < in_rows ? weight + r * C : bias;
    for (int64_t h = 0; h < plan.heads; ++h) {
      const float* w = params + plan.matrices[static_cast<size_t>(h)].weight;
      std::fill(sum.begin(), sum.end(), 0.0);
      for (int64_t d = 0; d < D; ++d) {
        const double x = row[h * D + d];
        for (int64_t f = 0; f < D; ++f) sum[static_cast<size_t>(f)] += x * w[d * D + f];
      }
      for (int64_t f = 0; f < D; ++f)
        row[h * D + f] = static_cast<float>(sum[static_cast<size_t>(f)]);
    }
  }
}

void activate(const FeaturePlan& plan, int64_t rows, ConstMat x, Mat phi) {
  softplus_forward(rows, plan.heads * plan.out, x, phi);
}

void reference(const FeaturePlan& plan, const Complex* params, int64_t head, const Complex* x,
               Complex* phi) {
  const Complex* w = params + plan.matrices[static_cast<size_t>(head)].weight;
  for (int64_t f = 0; f < plan.out; ++f) {
    Complex p = 0;
    for (int64_t d = 0; d < plan.in; ++d) p += x[d] * w[d * plan.out + f];
    phi[f] = p.real() > 0 ? p + std::log(1.0 + std::exp(-p)) : std::log(1.0 + std::exp(p));
  }
}

}  // namespace

extern const Feature kSoftplusFeature = {
    .name = "softplus",
    .formula = "Softplus(x W)",
    .summary = "one trainable layer a head; the paper's linear kernel",
    .paper = "Yorsh and Kovalenko 2022",
    .build = build,
    .forward = forward,
    .backward = backward,
    .fold = fold,
    .activate = activate,
    .reference = reference,
};

}  // namespace linnet
