// profiles.h -- named configurations: the papers' tasks at their sizes, and the rows of Table 1.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/config.h"

namespace linnet {

// The model of one row, of the kernel paper's Table 1 or beside it, on one task; unknown names are
// an Error that lists them.
ModelConfig profile_config(std::string_view profile, std::string_view task, std::string_view row);

std::vector<std::string> table1_rows();

// What makes a row, put into a config: mixer, phi, and the feed-forward layer of some.
void apply_row(std::string_view row, ModelConfig& config);

// The known names, separated by commas, for help texts.
std::string profile_names();
std::string profile_tasks();
std::string profile_rows();

}  // namespace linnet
