// chart_data.h -- what the charts of the page draw.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "report/arena_summary.h"

namespace linnet {

// {"boards":[{"rows":[...],"against":N,"tasks":[{"title":...,"references":[...],"cells":[...]}]}]};
// accuracies in percent, rows by their place in "rows".
nlohmann::ordered_json chart_data(const ArenaSummary& summary);

}  // namespace linnet
