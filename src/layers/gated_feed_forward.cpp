// gated_feed_forward.cpp -- y = f(x W1 + b1, x W3 + b3) W2 + b2: hidden units that are products.
//
// Forward: p = x W1 + b1, q = x W3 + b3; bilinear g = p q, SwiGLU g = p sigmoid(p) q.
// Backward (kernels/pairs.h): bilinear dp = dg q, dq = dg p;
//   SwiGLU dp = dg q s (1 + p (1 - s)), dq = dg p s, with s = sigmoid(p).
// The matrices around it, cost and what is saved: feed_forward.cpp.
// Paper: Shazeer, "GLU variants improve Transformer", 2020.
#include "kernels/pairs.h"
#include "layers/feed_forward.h"

namespace linnet {
namespace {

using Complex = std::complex<double>;

template <Pair kPair>
void activate(int64_t rows, int64_t cols, ConstMat p, ConstMat q, Mat g) noexcept {
  pair_forward(kPair, rows, cols, p, q, g);
}

template <Pair kPair>
void activate_backward(int64_t rows, int64_t cols, ConstMat p, ConstMat q, ConstMat dg, Mat g,
                       Mat dp, Mat dq) noexcept {
  pair_backward(kPair, rows, cols, p, q, dg, g, dp, dq);
}

template <Pair kPair>
Complex exact(Complex p, Complex q) {
  return exact_pair(kPair, p, q);
}

}  // namespace

extern const FeedForward kBilinearFeedForward = {
    .name = "bilinear",
    .formula = "((x W1 + b1) * (x W3 + b3)) W2 + b2",
    .summary = "products of two projections: a polynomial of degree 2",
    .paper = "Shazeer 2020",
    .gated = true,
    .activate = activate<Pair::product>,
    .activate_backward = activate_backward<Pair::product>,
    .exact = exact<Pair::product>,
};

extern const FeedForward kSwigluFeedForward = {
    .name = "swiglu",
    .formula = "(silu(x W1 + b1) * (x W3 + b3)) W2 + b2",
    .summary = "the gated layer of most recent language models",
    .paper = "Shazeer 2020",
    .gated = true,
    .activate = activate<Pair::swiglu>,
    .activate_backward = activate_backward<Pair::swiglu>,
    .exact = exact<Pair::swiglu>,
};

}  // namespace linnet
