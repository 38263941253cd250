// pretraining_files.cpp -- compares beginnings setting by setting, and reads results that others
// may have changed.
#include "train/pretraining_files.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/file.h"
#include "core/settings.h"
#include "models/model_folder.h"
#include "train/run_identity.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kResultFile = "result.json";
constexpr const char* kContent = "unlabelled_content";

Json start_of(const PretrainSettings& from, const std::string& model, int64_t records,
              int64_t bytes, uint64_t content) {
  Json json = pretrain_settings_to_json(from);
  json["init"] = model;
  json["unlabelled_records"] = records;
  json["unlabelled_bytes"] = bytes;
  json[kContent] = content_text(content);
  return json;
}
Json start_of(const PreparedTask& prepared, const PretrainSettings& settings,
              const std::string& init) {
  return start_of(settings, init, prepared.unlabelled_records, prepared.unlabelled_bytes,
                  prepared.unlabelled_content);
}
// Of a run from nothing, which has no such file.
Json plain_start() { return start_of({}, "", 0, 0, 0); }

// Its beginning is not written yet.
bool is_new(const fs::path& folder) {
  return !fs::exists(folder / kStartFile) && !fs::exists(folder / kRunFile);
}

nlohmann::json parse_object(std::string_view text, const std::string& place) {
  nlohmann::json json = parse_settings(text, place);
  if (!json.is_object()) throw Error(fmt::format("[{}] must be a JSON object", place));
  return json;
}

}  // namespace

nlohmann::json parse_start(std::string_view text, const std::string& place) {
  return parse_object(text, place);
}

void save_start(const fs::path& folder, const PreparedTask& prepared,
                const PretrainSettings& settings, const std::string& init) {
  const Json now = start_of(prepared, settings, init);
  if (is_new(folder) && now != plain_start()) write_file(folder / kStartFile, now.dump(2) + "\n");
}

void check_start(const fs::path& folder, const PreparedTask& prepared,
                 const PretrainSettings& settings, const std::string& init) {
  if (is_new(folder)) return;
  const fs::path path = folder / kStartFile;
  const nlohmann::json before =
      fs::exists(path) ? parse_start(read_file(path, kLargestConfigFile), place_of(path))
                       : nlohmann::json(plain_start());
  const Json now = start_of(prepared, settings, init);
  for (const auto& [name, value] : now.items()) {
    const nlohmann::json old = before.value(name, nlohmann::json());
    if (old == nlohmann::json(value)) continue;
    if (name == kContent) {
      if (old.is_null()) continue;  // of an earlier version
      throw Error(fmt::format(
          "[{}] the texts without labels have changed since the run began: take another --out",
          place_of(path)));
    }
    throw Error(fmt::format(
        "[{}] the run in this folder began with {} = {}, not {}: take another --out, or remove "
        "the folder",
        place_of(path), name, printable(old.dump(), 60), printable(value.dump(), 60)));
  }
}

Json parse_result(std::string_view text, const std::string& place) {
  const nlohmann::json json = parse_object(text, place);
  const auto refuse = [&](const std::string& why) {
    throw Error(fmt::format("[{}] {}: remove the file, and the end of pretraining is made again",
                            place, why));
  };
  for (const auto& [name, value] : json.items()) {
    // What is not finite was written as null.
    const bool figure = value.is_number() || value.is_null();
    if (printable(name) != name || (name == "task" ? !value.is_string() : !figure))
      refuse(fmt::format("\"{}\" is no figure of pretraining", printable(name, 40)));
  }
  for (const char* name : {"task", "steps", "tokens"})
    if (!json.contains(name)) refuse(fmt::format("it has no \"{}\"", name));
  return Json::parse(text);
}

Json load_result(const fs::path& folder) {
  const fs::path path = folder / kResultFile;
  if (!fs::exists(path)) return nullptr;
  return parse_result(read_file(path, kLargestConfigFile), place_of(path));
}

void save_result(const fs::path& folder, const Json& result) {
  write_file(folder / kResultFile, result.dump(2) + "\n");
}

}  // namespace linnet
