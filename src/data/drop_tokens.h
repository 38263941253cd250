// drop_tokens.h -- a text without some of its words, others each time: a model that must do with
// what is left learns less by heart.
//
// Iyyer et al., "Deep unordered composition rivals syntactic methods for text classification",
// 2015.
#pragma once

#include "core/random.h"
#include "data/example.h"

namespace linnet {

// Each token goes with probability `share`; where all would, the first stays.
inline void drop_tokens(double share, Random& random, std::vector<int32_t>& tokens) {
  if (tokens.empty()) return;
  const int32_t first = tokens.front();
  std::erase_if(tokens, [&](int32_t) { return random.uniform() < share; });
  if (tokens.empty()) tokens.push_back(first);
}
// Of both of the example's sequences.
inline void drop_tokens(double share, Random& random, Example& example) {
  drop_tokens(share, random, example.tokens);
  drop_tokens(share, random, example.other);
}

}  // namespace linnet
