// task_settings.cpp -- reads, checks and writes what a model folder knows of its data.
#include "data/task_settings.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/file.h"
#include "core/settings.h"
#include "models/model_folder.h"

namespace linnet {
namespace {

template <class Settings, class Visit>
void for_each_field(Settings& s, const Visit& visit) {
  visit("task", s.task, "What is learnt: `linnet list tasks`");
  visit("truncate", s.truncate, "Of longer texts: head, tail, head+tail");
  visit("stride", s.stride, "Above 0: longer texts are seen in windows so many tokens apart");
  visit("mask_share", s.mask_share, "Task masked: share of the tokens that are hidden");
  visit("mask_span", s.mask_span,
        "Task masked: mean number of tokens hidden together; 0: by the tokenizer");
  visit("labels", s.labels, "Names of the classes");
}

}  // namespace

nlohmann::ordered_json task_settings_to_json(const TaskSettings& settings) {
  nlohmann::ordered_json json;
  for_each_field(settings,
                 [&](const char* name, const auto& member, const char*) { json[name] = member; });
  return json;
}

LoadedTask load_task(const std::filesystem::path& folder, const ModelConfig& model) {
  const std::filesystem::path path = folder / "config.json";
  const nlohmann::json json = parse_settings(read_file(path, kLargestConfigFile), place_of(path));
  if (!json.contains("data")) {
    throw Error(
        fmt::format("[{}] does not say what data the model was trained on: it has no "
                    "\"data\"",
                    place_of(path)));
  }
  try {
    LoadedTask loaded{
        settings_from_json<TaskSettings>(
            "data", json["data"], [](auto& s, const auto& visit) { for_each_field(s, visit); }),
        nullptr};
    check_task_settings(loaded.settings, model);
    loaded.tokenizer = load_tokenizer(folder);
    return loaded;
  } catch (const Error& error) {
    throw Error(fmt::format("[{}] {}", place_of(path), error.what()));
  }
}

}  // namespace linnet
