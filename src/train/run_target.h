// run_target.h -- the CPU target of a run, on which its last bits hang: a folder goes on with the
// one that it began with.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace linnet {

inline constexpr const char* kTargetEntry = "target";  // of run.json

// To be called before the run's Context is made, or between runs. The kernels of the process then
// run with the target that the run in this folder began with; where there is no run, or one of an
// earlier version that does not say, with the usual one. An Error where this CPU does not have it,
// or LINNET_TARGET asks for another. With `change` the usual one becomes the run's.
void take_target(const std::filesystem::path& folder, bool change);

// An Error where the run of this run.json has another target than the kernels now.
void check_target(const std::filesystem::path& path, const nlohmann::json& identity);

}  // namespace linnet
