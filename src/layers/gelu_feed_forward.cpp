// gelu_feed_forward.cpp -- y = gelu(x W1 + b1) W2 + b2: the feed-forward layer of the Transformer.
//
// Forward: g = gelu(p), p = x W1 + b1. Backward: dp = dg gelu'(p), with g in the same pass.
// The matrices around it, cost and what is saved: feed_forward.cpp.
// Paper: Hendrycks and Gimpel, "Gaussian error linear units", 2016 (tanh form, as in the LRA
// recipe).
#include <cmath>

#include "kernels/activations.h"
#include "layers/feed_forward.h"

namespace linnet {
namespace {

using Complex = std::complex<double>;

void activate(int64_t rows, int64_t cols, ConstMat p, ConstMat, Mat g) noexcept {
  gelu_forward(rows, cols, p, g);
}

void activate_backward(int64_t rows, int64_t cols, ConstMat p, ConstMat, ConstMat dg, Mat g, Mat dp,
                       Mat) noexcept {
  gelu_backward(rows, cols, p, dg, g, dp);
}

Complex exact(Complex p, Complex) {
  const Complex inner = std::sqrt(2 / M_PI) * (p + 0.044715 * p * p * p);
  return 0.5 * p * (1.0 + std::tanh(inner));
}

}  // namespace

extern const FeedForward kGeluFeedForward = {
    .name = "gelu",
    .formula = "gelu(x W1 + b1) W2 + b2",
    .summary = "the Transformer's own",
    .paper = "Hendrycks and Gimpel 2016",
    .activate = activate,
    .activate_backward = activate_backward,
    .exact = exact,
};

}  // namespace linnet
