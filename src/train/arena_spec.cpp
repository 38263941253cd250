// arena_spec.cpp -- reads and checks the file; puts its settings over those of a profile.
#include "train/arena_spec.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/file.h"
#include "core/folder.h"
#include "core/settings.h"
#include "models/profiles.h"
#include "train/run_profiles.h"

namespace linnet {
namespace {

using Json = nlohmann::json;

// What the data or the arena decides.
constexpr std::string_view kDecided[] = {"task", "vocab", "classes", "loss", "seed"};

void read_rows(const Json& json, std::vector<ArenaRow>& rows) {
  if (!json.is_object()) refuse_settings("arena.rows");
  for (const auto& [name, value] : json.items()) {
    ArenaRow row{.name = name, .row = name, .settings = value};
    const std::string group = fmt::format("arena.rows.{}", printable(name, 40));
    // A part of the path of its runs.
    if (!is_file_name(name))
      throw Error(
          fmt::format("[{}] a name has 1 to 60 of A-Z a-z 0-9 . _ -, and is not . or ..", group));
    if (!value.is_object()) refuse_settings(group);
    if (value.contains("row")) read_setting(group, "row", value["row"], row.row);
    row.settings.erase("row");
    rows.push_back(std::move(row));
  }
}

// Each setting goes to the group that knows its name.
void put_over(const Json& settings, const std::string& group, Json& model, Json& train) {
  if (settings.is_null()) return;
  if (!settings.is_object()) refuse_settings(group);
  for (const auto& [name, value] : settings.items()) {
    const bool of_model = model.contains(name);
    const bool known = of_model || train.contains(name);
    if (!known || std::ranges::find(kDecided, name) != std::end(kDecided))
      refuse_setting(group, name);
    (of_model ? model : train)[name] = value;
  }
}

}  // namespace

ArenaSpec parse_arena_spec(std::string_view text, std::string_view place) try {
  const Json json = parse_settings(text, place);
  if (!json.is_object()) refuse_settings("arena");
  ArenaSpec spec;
  for (const auto& [name, value] : json.items()) {
    if (name == "name") {
      read_setting("arena", "name", value, spec.name);
    } else if (name == "profile") {
      read_setting("arena", "profile", value, spec.profile);
    } else if (name == "tasks") {
      read_setting("arena", "tasks", value, spec.tasks);
    } else if (name == "seeds") {
      read_setting("arena", "seeds", value, spec.seeds);
      check_setting("arena", "seeds", spec.seeds, 1, 1000);
    } else if (name == "data") {
      if (!value.is_object()) refuse_settings("arena.data");
      for (const auto& [task, path] : value.items())
        read_setting("arena.data", printable(task, 40).c_str(), path, spec.data[task]);
    } else if (name == "settings") {
      if (!value.is_object()) refuse_settings("arena.settings");
      spec.settings = value;
    } else if (name == "rows") {
      read_rows(value, spec.rows);
    } else {
      refuse_setting("arena", name);
    }
  }
  return spec;
} catch (const Error& error) {
  const std::string what = error.what();
  if (what.starts_with(fmt::format("[{}]", place))) throw;
  throw Error(fmt::format("[{}] {}", place, what));
}

ArenaModel arena_model(const std::string& profile, const std::string& task, const Json& settings,
                       const ArenaRow& row) {
  Json model = config_to_json(profile_config(profile, task, row.row)),
       train = run_settings_to_json(profile_settings(profile, task));
  put_over(settings, "arena.settings", model, train);
  put_over(row.settings, fmt::format("arena.rows.{}", printable(row.name, 40)), model, train);
  return {.config = config_from_json(model), .settings = run_settings_from_json(train)};
}

}  // namespace linnet
