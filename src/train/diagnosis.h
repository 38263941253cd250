// diagnosis.h -- where a loss or a gradient that is not finite began.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "train/example_run.h"

namespace linnet {

struct Diagnosis {
  // "parameter blocks.1.ffn.in.weight", "output of block 1 feed-forward" or "gradient of block 0
  // mixer": the first of these, in the order of the computation, that is not finite or beyond
  // kAbsurd. Empty: none is.
  std::string where;
  double largest = 0;   // |x| there: NaN, infinite or absurd
  int64_t record = -1;  // Example::record of the first example that shows it; -1: a parameter does

  struct Group {
    std::string stage;        // embedding, block 0 mixer, block 0 feed-forward, ..., head
    double values, gradient;  // norms; of the mean gradient over the examples up to that one
  };
  std::vector<Group> groups;
};

// Numbers whose squares are beyond a float: no norm or variance of them is of use.
inline constexpr double kAbsurd = 1e18;

// The batch must be in order of by_length; its examples are the first-th and following of the run,
// whose dropout is drawn again.
Diagnosis diagnose(BatchRun run, std::span<const Example* const> batch, uint64_t seed,
                   uint64_t first);

// Of a model whose answer is not finite: an Error that names the first tensor with such a value, or
// says that there is none. `folder` is the model's.
[[noreturn]] void refuse_answer(const std::filesystem::path& folder, const Model& model,
                                const float* values);

}  // namespace linnet
