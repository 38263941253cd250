// missing_runs.cpp -- compares a plan with the cells of its board.
#include "report/missing_runs.h"

#include <cmath>
#include <set>

namespace linnet {
namespace {

double expected_seconds(const ArenaBoard& board, const ArenaPlan& plan, const std::string& task,
                        const std::string& row) {
  const auto runs_of = [&](bool same_row) {
    std::vector<double> seconds;
    for (const ArenaTask& t : board.tasks) {
      for (const ArenaCell& cell : t.cells) {
        if (t.task == task && (!same_row || cell.row == row) && !std::isnan(cell.costs.seconds))
          seconds.push_back(cell.costs.seconds);
      }
    }
    return mean_of(seconds);
  };
  if (const double own = runs_of(true); !std::isnan(own)) return own;
  for (const std::string& of_row : {row, std::string()}) {
    const auto it = plan.seconds_per_run.find({task, of_row});
    if (it != plan.seconds_per_run.end()) return it->second;
  }
  for (const RunProjection* projection : board.projections) {
    if (projection->task == task && projection->row == row) return projection->seconds;
  }
  return runs_of(false);
}

}  // namespace

void find_missing(ArenaBoard& board, const ArenaPlan& plan) {
  board.planned = true;
  board.planned_runs = plan.tasks.size() * plan.rows.size() * plan.seeds.size();
  for (const std::string& task : plan.tasks) {
    for (const std::string& row : plan.rows) {
      std::set<uint64_t> done, failed;
      for (const ArenaTask& t : board.tasks) {
        for (const ArenaCell& cell : t.cells) {
          if (t.task != task || cell.row != row) continue;
          for (const RunRecord* run : cell.runs) done.insert(run->seed);
          for (const RunRecord* run : cell.failed) failed.insert(run->seed);
        }
      }
      const double seconds = expected_seconds(board, plan, task, row);
      for (const uint64_t seed : plan.seeds) {
        if (!done.contains(seed))
          board.missing.push_back({task, row, seed, failed.contains(seed), seconds});
      }
    }
  }
}

}  // namespace linnet
