// arena_data.h -- the data of an arena's tasks, and what is known of it beforehand.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/context.h"
#include "data/listops_ladder.h"

namespace linnet {

// Where the data of each task is, from "TASK=PATH"; ListOps is made in `folder` where none is
// named, with 10,000 trees for test.
std::map<std::string, std::string> arena_paths(const std::vector<std::string>& tasks,
                                               const std::vector<std::string>& given,
                                               const std::string& folder);

// What parts of the test trees are worth: the lines that a report draws beside the models.
std::vector<LadderRung> arena_ladder(Context& context, const std::string& path);

}  // namespace linnet
