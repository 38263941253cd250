// run_profiles.h -- how the models of a profile are trained: the paper's settings, and small ones.
#pragma once

#include <string_view>

#include "train/run_settings.h"

namespace linnet {

// For profile_config(profile, task, row); unknown names are an Error that lists them.
RunSettings profile_settings(std::string_view profile, std::string_view task);

}  // namespace linnet
