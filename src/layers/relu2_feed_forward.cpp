// relu2_feed_forward.cpp -- y = max(x W1 + b1, 0)^2 W2 + b2: sparse hidden units without exp.
//
// Forward: g = max(p, 0)^2, p = x W1 + b1. Backward: dp = dg 2 max(p, 0).
// The matrices around it, cost and what is saved: feed_forward.cpp.
// Paper: So et al., "Primer: searching for efficient Transformers for language modeling", 2021.
#include "kernels/activations.h"
#include "layers/feed_forward.h"

namespace linnet {
namespace {

using Complex = std::complex<double>;

void activate(int64_t rows, int64_t cols, ConstMat p, ConstMat, Mat g) noexcept {
  relu2_forward(rows, cols, p, g);
}

void activate_backward(int64_t rows, int64_t cols, ConstMat p, ConstMat, ConstMat dg, Mat g, Mat dp,
                       Mat) noexcept {
  relu2_forward(rows, cols, p, g);
  relu2_backward(rows, cols, p, dg, dp);
}

Complex exact(Complex p, Complex) { return p.real() > 0 ? p * p : 0; }

}  // namespace

extern const FeedForward kRelu2FeedForward = {
    .name = "relu2",
    .formula = "max(x W1 + b1, 0)^2 W2 + b2",
    .summary = "sparse and without exp",
    .paper = "So et al. 2021",
    .activate = activate,
    .activate_backward = activate_backward,
    .exact = exact,
};

}  // namespace linnet
