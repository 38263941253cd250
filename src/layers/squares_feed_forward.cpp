// squares_feed_forward.cpp -- y = (x W1 + b1)^2 W2 + b2, with or without + x W4.
//
// A linear layer on squared inputs, fed by a projection so that it has hidden units. The answer is
// a polynomial of degree 2; x W4 makes its linear part free of the quadratic one.
// Forward: g = p^2, p = x W1 + b1. Backward: dp = dg 2 p.
// The matrices around it, x W4 too, cost and what is saved: feed_forward.cpp.
// Paper: Narybaev, "Why Transformers are good?".
#include "kernels/activations.h"
#include "layers/feed_forward.h"

namespace linnet {
namespace {

using Complex = std::complex<double>;

void activate(int64_t rows, int64_t cols, ConstMat p, ConstMat, Mat g) noexcept {
  square_forward(rows, cols, p, g);
}

void activate_backward(int64_t rows, int64_t cols, ConstMat p, ConstMat, ConstMat dg, Mat g, Mat dp,
                       Mat) noexcept {
  square_forward(rows, cols, p, g);
  square_backward(rows, cols, p, dg, dp);
}

Complex exact(Complex p, Complex) { return p * p; }

}  // namespace

extern const FeedForward kSquaresFeedForward = {
    .name = "squares",
    .formula = "(x W1 + b1)^2 W2 + b2",
    .summary = "a linear layer on squares: a polynomial of degree 2",
    .paper = "Narybaev, Why Transformers are good?",
    .activate = activate,
    .activate_backward = activate_backward,
    .exact = exact,
};

extern const FeedForward kSquaresLinearFeedForward = {
    .name = "squares-linear",
    .formula = "(x W1 + b1)^2 W2 + b2 + x W4",
    .summary = "squares with a linear term of full rank",
    .paper = "Narybaev, Why Transformers are good?",
    .linear = true,
    .activate = activate,
    .activate_backward = activate_backward,
    .exact = exact,
};

}  // namespace linnet
