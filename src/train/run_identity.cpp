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
#include "train/run_target.h"

namespace linnet {
namespace {

using Json = nlohmann::ordered_json;

// All that decides the result.
Json identity(const PreparedTask& prepared, const ModelConfig& config,
              const RunSettings& settings) {
  return {{"model", config_to_json(config)},
          {"data", task_settings_to_json(prepared.settings)},
          {"train", run_settings_to_json(settings)},
          {"records", prepared.records},
          {"bytes", prepared.bytes},
          {"content", content_text(prepared.content)}};
}

// Earlier versions kept no hash.
void check_data(const std::filesystem::path& path, const nlohmann::json& before,
                const std::string& name, const nlohmann::json& now) {
  const nlohmann::json old = before.value(name, nlohmann::json());
  const bool is_hash = name == "content";
  if (old == now || (is_hash && old.is_null())) return;
  throw Error(fmt::format(
      "[{}] the data has changed since the run began: {}; take another folder", place_of(path),
      is_hash ? "other texts, labels or another order"
              : fmt::format("{} {}, now {}", printable(old.dump(), 60), name, now.dump())));
}

// Empty for what is no regular file, or too large to be linnet's.
std::string content_of(const std::filesystem::path& file) {
  if (!std::filesystem::is_regular_file(file) ||
      std::filesystem::file_size(file) > kMaxTokenizerFile)
    return "";
  return read_file(file, kMaxTokenizerFile);
}

}  // namespace

std::string content_text(uint64_t hash) { return fmt::format("{:016x}", hash); }

nlohmann::json read_identity(const std::filesystem::path& path) {
  nlohmann::json json = parse_settings(read_file(path, kLargestConfigFile), place_of(path));
  const auto refuse = [&](std::string_view why) {
    throw Error(fmt::format("[{}] is no record of a run: {}", place_of(path), why));
  };
  if (!json.is_object()) refuse("an object is expected");
  for (const char* group : {"model", "data", "train"})
    if (json.contains(group) && !json[group].is_object())
      refuse(fmt::format("\"{}\" must be an object", group));
  for (const char* text : {"content", kTargetEntry})
    if (json.contains(text) && !json[text].is_string())
      refuse(fmt::format("\"{}\" must be a text", text));
  return json;
}

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
  constexpr std::string_view kOfRun[] = {kRunFile, "checkpoint.safetensors"},
                             kCard[] = {"README.md"},
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
  const std::filesystem::path path = folder / kRunFile;
  if (!std::filesystem::exists(path)) return;
  const nlohmann::json before = with_defaults(read_identity(path));
  check_target(path, before);
  for (const auto& [group, values] : now.items()) {
    if (!values.is_object()) {
      check_data(path, before, group, values);
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
  if (std::filesystem::exists(folder / kRunFile)) return;
  Json json = identity(prepared, config, settings);
  json[kTargetEntry] = Context::target();
  write_file(folder / kRunFile, json.dump(2) + "\n");
}

}  // namespace linnet
