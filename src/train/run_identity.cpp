// run_identity.cpp -- compares settings one by one, so that an Error can name the one.
#include "train/run_identity.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/file.h"
#include "core/folder.h"
#include "core/settings.h"
#include "data/task_settings.h"
#include "data/tokenizer_json.h"
#include "models/model_folder.h"
#include "train/card.h"

namespace linnet {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFile = "run.json";

// All that decides the result.
Json identity(const PreparedTask& prepared, const ModelConfig& config,
              const RunSettings& settings) {
  return {{"model", config_to_json(config)},
          {"data", task_settings_to_json(prepared.settings)},
          {"train", run_settings_to_json(settings)},
          {"records", prepared.records},
          {"bytes", prepared.bytes}};
}

// Empty for what is no regular file, or too large to be linnet's.
std::string content_of(const std::filesystem::path& file) {
  if (!std::filesystem::is_regular_file(file) ||
      std::filesystem::file_size(file) > kMaxTokenizerFile)
    return "";
  return read_file(file, kMaxTokenizerFile);
}

}  // namespace

nlohmann::json with_defaults(nlohmann::json settings) {
  const std::pair<const char*, nlohmann::json> groups[] = {
      {"model", config_to_json(ModelConfig())}, {"train", run_settings_to_json(RunSettings())}};
  for (const auto& [group, defaults] : groups) {
    nlohmann::json& own = settings[group];
    if (!own.is_object()) own = nlohmann::json::object();
    for (const auto& [name, value] : defaults.items()) own.emplace(name, value);
  }
  return settings;
}

void check_folder(const std::filesystem::path& folder, std::string_view tokenizer) {
  constexpr std::string_view kOfRun[] = {kFile, "checkpoint.safetensors"}, kCard[] = {"README.md"},
                             kModel[] = {"model.safetensors", "config.json", "metrics.jsonl"},
                             kTokenizers[] = {kTokenizerJson, kTokenizerModel};
  const bool of_run = !first_of(folder, kOfRun).empty();
  const std::filesystem::path card = first_of(folder, kCard);
  if (!card.empty() && !(of_run && is_model_card(content_of(card)))) refuse_foreign(card);
  if (of_run) return;
  if (const auto file = first_of(folder, kModel); !file.empty()) refuse_foreign(file);
  for (const std::string_view name : kTokenizers) {
    const auto file = first_of(folder, {&name, 1});
    if (!file.empty() && content_of(file) != tokenizer) refuse_foreign(file);
  }
}

void check_identity(const std::filesystem::path& folder, const PreparedTask& prepared,
                    const ModelConfig& config, const RunSettings& settings) {
  check_folder(folder, prepared.tokenizer->file());
  const Json now = identity(prepared, config, settings);
  const std::filesystem::path path = folder / kFile;
  if (!std::filesystem::exists(path)) return;
  const nlohmann::json written =
      parse_settings(read_file(path, kLargestConfigFile), place_of(path));
  if (!written.is_object())
    throw Error(fmt::format("[{}] is no record of a run: an object is expected", place_of(path)));
  const nlohmann::json before = with_defaults(written);
  for (const auto& [group, values] : now.items()) {
    if (!values.is_object()) {
      if (before.value(group, nlohmann::json()) != nlohmann::json(values))
        throw Error(fmt::format(
            "[{}] the data has changed since the run began: {} {}, now {}; "
            "take another folder",
            place_of(path), before.value(group, nlohmann::json()).dump(), group, values.dump()));
      continue;
    }
    for (const auto& [name, value] : values.items()) {
      const nlohmann::json old =
          before.contains(group) ? before[group].value(name, nlohmann::json()) : nlohmann::json();
      if (old == nlohmann::json(value)) continue;
      throw Error(fmt::format(
          "[{}] the run in this folder has {}.{} = {}, not {}: take another "
          "folder, or remove this one",
          place_of(path), group, name, printable(old.dump(), 60), printable(value.dump(), 60)));
    }
  }
}

void save_identity(const std::filesystem::path& folder, const PreparedTask& prepared,
                   const ModelConfig& config, const RunSettings& settings) {
  if (!std::filesystem::exists(folder / kFile))
    write_file(folder / kFile, identity(prepared, config, settings).dump(2) + "\n");
}

}  // namespace linnet
