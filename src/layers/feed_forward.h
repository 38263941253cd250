// feed_forward.h -- feed-forward layers of a block, applied token by token.
//
// A kind is a record of functions and facts. Adding one: write its file, add its line to
// feed_forwards.cpp.
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
  Linear in{}, out{};
};

struct FeedForwardRun {
  const FeedForwardPlan& plan;
  const Weights& weights;
  Arena& scratch;
  float dropout = 0;         // of the hidden units
  uint64_t dropout_key = 0;  // of this sequence, step and layer
};

struct FeedForward {
  std::string_view name, formula, summary, paper, cost;
  void (*build)(ParamLayout& layout, const std::string& name, FeedForwardPlan& plan);
  // Floats a row that forward saves for backward.
  int64_t (*saved_floats)(const FeedForwardPlan& plan);
  // y += f(x), or only what is saved where y is null; saved is null where no backward follows. Row
  // 0 is token `first`.
  void (*forward)(const FeedForwardRun& run, int64_t rows, int64_t first, ConstMat x, Mat saved,
                  Mat y);
  // dx = the input gradient, parameters' gradients +=.
  void (*backward)(const FeedForwardRun& run, int64_t rows, int64_t first, ConstMat x,
                   ConstMat saved, ConstMat dy, Mat dx, float* grads);
  double (*flops)(const FeedForwardPlan& plan);
  // The definition for one token, x [C] to y [C], for tests.
  void (*reference)(const FeedForwardPlan& plan, const std::complex<double>* params,
                    const std::complex<double>* x, std::complex<double>* y);
};

std::span<const FeedForward* const> feed_forwards();
// The kind of that name, or an Error that lists the names.
const FeedForward& find_feed_forward(std::string_view name);

}  // namespace linnet
