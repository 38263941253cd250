// missing_runs.h -- which runs of a plan are still to be done, and how long they will take.
#pragma once

#include "report/arena_summary.h"

namespace linnet {

// Fills planned, planned_runs and missing of a board whose cells are filled.
void find_missing(ArenaBoard& board, const ArenaPlan& plan);

}  // namespace linnet
