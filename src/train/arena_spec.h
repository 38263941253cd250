// arena_spec.h -- what an arena compares, from a JSON file: tasks, seeds, and rows with settings of
// their own.
//
//   {"name": "depth", "profile": "desk", "tasks": ["listops"], "seeds": 3,
//    "data": {"listops": "lists"}, "settings": {"steps": 300},
//    "rows": {"flat": {"row": "linear-kernel"},
//             "deep": {"row": "linear-kernel", "blocks": 6, "lr": 0.001}}}
//
// A setting is one of the model or of training, by its name. All fields may be left out.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "models/config.h"
#include "train/run_settings.h"

namespace linnet {

struct ArenaRow {
  std::string name;              // in the records; is_file_name
  std::string row;               // of the profile
  nlohmann::json settings = {};  // an object, or null
};

struct ArenaSpec {
  std::string name, profile;
  std::vector<std::string> tasks;
  int64_t seeds = 0;                        // 0: not said
  std::map<std::string, std::string> data;  // paths by task
  nlohmann::json settings;                  // of all rows
  std::vector<ArenaRow> rows;               // by name
};

// Checked but for names of tasks, rows and profiles; an Error names the field, with `place` in
// front.
ArenaSpec parse_arena_spec(std::string_view text, std::string_view place);

// What a task has in a profile, with the settings of all rows, then those of the row.
struct ArenaModel {
  ModelConfig config;
  RunSettings settings;
};
ArenaModel arena_model(const std::string& profile, const std::string& task,
                       const nlohmann::json& settings, const ArenaRow& row);

}  // namespace linnet
