// feed_forward.h -- feed-forward layers of a block, applied token by token.
//
// A kind is what it does with its hidden units, one by one; the rest is the same for all of them
// (feed_forward.cpp). Adding one: write its file, add its line to feed_forwards.cpp.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/arena.h"
#include "core/view.h"
#include "layers/linear.h"
#include "layers/params.h"

namespace linnet {

struct FeedForwardPlan {
  int64_t width = 0, hidden = 0;  // C, hidden units
  Linear in{}, gate{}, out{};     // W1, W3, W2 with their biases
  Matrix linear{};                // W4
};

struct FeedForwardRun {
  const FeedForwardPlan& plan;
  const Weights& weights;
  Arena& scratch;
  float dropout = 0;         // of the hidden units
  uint64_t dropout_key = 0;  // of this sequence, step and layer
};

struct FeedForward {
  std::string_view name, formula, summary, paper;
  bool gated = false;   // the hidden units have a second projection, q = x W3 + b3
  bool linear = false;  // x W4 is added to the answer

  // g = f(p, q), element by element; q is null where not gated; g may be p.
  void (*activate)(int64_t rows, int64_t cols, ConstMat p, ConstMat q, Mat g) noexcept;
  // g once more, dp = dg df/dp and dq = dg df/dq; dp may be dg.
  void (*activate_backward)(int64_t rows, int64_t cols, ConstMat p, ConstMat q, ConstMat dg, Mat g,
                            Mat dp, Mat dq) noexcept;
  // The definition of f, for tests.
  std::complex<double> (*exact)(std::complex<double> p, std::complex<double> q);

  void build(ParamLayout& layout, const std::string& prefix, FeedForwardPlan& plan) const;
  // Floats a row that forward saves for backward.
  int64_t saved_floats(const FeedForwardPlan& plan) const;
  // y += the layer's answer to x, or only what is saved where y is null; saved is null where no
  // backward follows. Row 0 is token `first`.
  void forward(const FeedForwardRun& run, int64_t rows, int64_t first, ConstMat x, Mat saved,
               Mat y) const;
  // dx = the input gradient, parameters' gradients +=.
  void backward(const FeedForwardRun& run, int64_t rows, int64_t first, ConstMat x, ConstMat saved,
                ConstMat dy, Mat dx, float* grads) const;
  double flops(const FeedForwardPlan& plan) const;
  int64_t parameters(int64_t width, int64_t hidden) const;
  // The hidden units, at least 1, with which parameters() is nearest to `count`.
  int64_t hidden_for(int64_t width, int64_t count) const;
  // The definition for one token, x [C] to y [C], for tests.
  void reference(const FeedForwardPlan& plan, const std::complex<double>* params,
                 const std::complex<double>* x, std::complex<double>* y) const;
};

std::span<const FeedForward* const> feed_forwards();
// The kind of that name, or an Error that lists the names.
const FeedForward& find_feed_forward(std::string_view name);

}  // namespace linnet
