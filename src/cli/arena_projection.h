// arena_projection.h -- what a run of an arena would take, from a few of its steps at full size.
#pragma once

#include "cli/arena_run.h"

namespace linnet {

// Takes so many steps and one look at some of validation; the record is one line of results
// (docs/report.md). None when `stop` said so: then it starts anew the next time.
std::optional<nlohmann::ordered_json> project_run(
    Context& context, const ArenaRun& run, const PreparedTask& prepared, int64_t steps,
    const std::function<bool()>& stop,
    const std::function<void(double done, const std::string& note)>& show);

}  // namespace linnet
