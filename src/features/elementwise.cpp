// elementwise.cpp -- stages without parameters: one function of each number.
//
//   elu1     elu(x) + 1           dx = dphi * min(phi, 1)
//   relu     max(x, 0)            dx = dphi where phi > 0
//   sigmoid  1 / (1 + exp(-x))    dx = dphi * phi (1 - phi)
//   gelu     gelu(x), tanh form   dx = dphi * gelu'(x)
//   squares  x * x                dx = dphi * 2 x
// At the end of a chain gelu is raised by 0.1701, the depth of its valley: attention needs phi > 0.
// Papers: Katharopoulos et al., "Transformers are RNNs", 2020 (elu1); Yorsh and Kovalenko 2022
// (sigmoid, gelu).
#include "core/error.h"
#include "features/feature.h"
#include "kernels/activations.h"

namespace linnet {
namespace {

constexpr float kGeluValley = 0.1701f;

void build(ParamLayout&, const std::string&, FeaturePlan& plan) { plan.out = plan.in; }

int64_t columns(const FeatureRun& run) { return run.plan.heads * run.plan.out; }

// A stage from a kernel y = f(x).
template <auto kForward>
void forward(const FeatureRun& run, int64_t rows, ConstMat x, Mat phi) {
  kForward(rows, columns(run), x, phi);
}
// And from a kernel dx = f'(value) dy, where value is y or x.
template <auto kBackward, bool kFromInput = false>
void backward(const FeatureRun& run, int64_t rows, ConstMat x, ConstMat phi, Mat dphi, Mat dx,
              float*) {
  kBackward(rows, columns(run), kFromInput ? x : phi, dphi, dx);
}

void raised_gelu(const FeatureRun& run, int64_t rows, ConstMat x, Mat phi) {
  gelu_forward(rows, columns(run), x, phi);
  if (!run.plan.last) return;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns(run); ++c) phi.row(r)[c] += kGeluValley;
  }
}
void raised_gelu_backward(const FeatureRun& run, int64_t rows, ConstMat x, ConstMat, Mat dphi,
                          Mat dx, float*) {
  gelu_backward(rows, columns(run), x, dphi, {}, dx);
}

template <auto kFunction>
void reference(const FeaturePlan& plan, const Complex*, int64_t, const Complex* x, Complex* phi) {
  for (int64_t d = 0; d < plan.in; ++d) phi[d] = kFunction(plan, x[d]);
}
Complex exact_elu1(const FeaturePlan&, Complex x) { return x.real() > 0 ? x + 1.0 : std::exp(x); }
Complex exact_relu(const FeaturePlan&, Complex x) { return x.real() > 0 ? x : 0; }
Complex exact_sigmoid(const FeaturePlan&, Complex x) { return 1.0 / (1.0 + std::exp(-x)); }
Complex exact_squares(const FeaturePlan&, Complex x) { return x * x; }
Complex exact_gelu(const FeaturePlan& plan, Complex x) {
  const Complex inner = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1.0 + std::tanh(inner)) + (plan.last ? static_cast<double>(kGeluValley) : 0);
}

}  // namespace

extern const Feature kElu1Feature = {
    .name = "elu1",
    .formula = "elu(x) + 1",
    .summary = "no parameters; the Linear Transformer's kernel",
    .paper = "Katharopoulos et al. 2020",
    .cost = "O(D)",
    .positive = true,
    .options = "",
    .build = build,
    .forward = forward<elu1_forward>,
    .backward = backward<elu1_backward>,
    .activate = nullptr,
    .reference = reference<exact_elu1>,
};

extern const Feature kReluFeature = {
    .name = "relu",
    .formula = "max(x, 0)",
    .summary = "no parameters; sparse features, the cheapest",
    .paper = "Choromanski et al. 2021",
    .cost = "O(D)",
    .positive = true,
    .options = "",
    .build = build,
    .forward = forward<relu_forward>,
    .backward = backward<relu_backward>,
    .activate = nullptr,
    .reference = reference<exact_relu>,
};

extern const Feature kSigmoidFeature = {
    .name = "sigmoid",
    .formula = "1 / (1 + exp(-x))",
    .summary = "instead of Softplus, e.g. linear>sigmoid: bounded features",
    .paper = "Yorsh and Kovalenko 2022",
    .cost = "O(D)",
    .positive = true,
    .options = "",
    .build = build,
    .forward = forward<sigmoid_forward>,
    .backward = backward<sigmoid_backward>,
    .activate = nullptr,
    .reference = reference<exact_sigmoid>,
};

extern const Feature kGeluFeature = {
    .name = "gelu",
    .formula = "gelu(x), at the end gelu(x) + 0.1701",
    .summary = "instead of Softplus, e.g. linear>gelu, or between layers",
    .paper = "Yorsh and Kovalenko 2022",
    .cost = "O(D)",
    .positive = true,
    .options = "",
    .build = build,
    .forward = raised_gelu,
    .backward = raised_gelu_backward,
    .activate = nullptr,
    .reference = reference<exact_gelu>,
};

extern const Feature kSquaresFeature = {
    .name = "squares",
    .formula = "x * x",
    .summary = "the polynomial of degree 2 without parameters; linear>squares has its own",
    .paper = "Narybaev, Why Transformers are good?",
    .cost = "O(D)",
    .positive = true,
    .options = "",
    .build = build,
    .forward = forward<square_forward>,
    .backward = backward<square_backward, true>,
    .activate = nullptr,
    .reference = reference<exact_squares>,
};

}  // namespace linnet
