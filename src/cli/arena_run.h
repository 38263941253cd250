// arena_run.h -- one run of an arena, from its place in the plan to its record.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/context.h"
#include "data/prepare.h"
#include "models/config.h"
#include "train/run_settings.h"

namespace linnet {

struct ArenaRun {
  std::string arena, profile, task, row;
  int64_t seed;
  ModelConfig config;
  RunSettings settings;
  std::string folder;          // of its checkpoint, from which it goes on
  bool change_target = false;  // of the CPU, where it goes on
};

// Trains and tests; the record is one line of results (docs/report.md). None when `stop` said so:
// then the folder has its checkpoint. A run that cannot go on is a record of its failure. `show` is
// told the share that is done, and a note.
std::optional<nlohmann::ordered_json> run_in_arena(
    Context& context, const ArenaRun& run, const PreparedTask& prepared,
    const std::function<bool()>& stop,
    const std::function<void(double done, const std::string& note)>& show);

}  // namespace linnet
