// example.h -- one example as training takes it: tokens and what is to be predicted of them.
#pragma once

#include <cstdint>
#include <vector>

namespace linnet {

// A matcher takes two sequences, a classifier the first, a classifier of tokens the first and a
// target for each of its tokens, -1 for none. A model of many labels ("loss": "sigmoid") takes the
// classes that are true as targets, and no label.
struct Example {
  std::vector<int32_t> tokens, other = {};
  int label = 0;  // -1: unknown
  std::vector<int32_t> targets = {};
  int64_t record = 0;  // which record of the data it came from
};

// That a model sees of it.
inline int64_t tokens_of(const Example& example) {
  return static_cast<int64_t>(example.tokens.size() + example.other.size());
}

}  // namespace linnet
