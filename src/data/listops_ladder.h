// listops_ladder.h -- what a ListOps score means: how often one is right who knows only the top of
// each tree.
//
// A rung knows the root's list, or its lists down to some level, and how the values of what lies
// below are spread over the trees; it says the most probable value. That is found by sampling: each
// subtree below becomes a digit drawn from the values of subtrees of that level (where its operator
// is known: of those with that operator), the tree is evaluated, and the most frequent value wins.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/context.h"
#include "data/listops.h"

namespace linnet {

struct LadderRung {
  std::string_view knows;
  double accuracy = 0;
  double loss = 0;  // nats
};

inline constexpr size_t kLadderRungs = 6;
// The rungs from the lowest up. The shares of classes and values are those of the trees themselves.
// The same for any number of threads.
std::vector<LadderRung> listops_ladder(Context& context, std::span<const ListopsExample> trees,
                                       uint64_t seed);

}  // namespace linnet
