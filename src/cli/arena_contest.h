// arena_contest.h -- runs an arena: models x tasks x seeds, or their projections.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/setting_flags.h"
#include "train/arena_spec.h"

namespace linnet {

struct ArenaOptions {
  std::string name = "table1", profile = "desk", folder = "arena", results, spec, memory;
  double budget = 0;  // seconds; 0: none
  std::vector<std::string> tasks, names, data;
  std::vector<ArenaRow> rows;
  nlohmann::json settings;  // of all rows
  bool table1 = false, retry = false, change_target = false;
  int64_t seeds = 5;
  int64_t project = 0;  // steps; 0: whole runs
  int threads = 0;
};

// Every run that has no record yet, until it is told to stop; the flags come on top of each row's
// settings.
void run_contest(const ArenaOptions& options, const ConfigFlags& model, const RunFlags& train);

}  // namespace linnet
