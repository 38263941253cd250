// run_identity.h -- run.json: what a run began with. A folder goes on only with the same.
#pragma once

#include <filesystem>
#include <string_view>

#include "data/prepare.h"
#include "models/config.h"
#include "train/run_settings.h"

namespace linnet {

inline constexpr const char* kRunFile = "run.json";

// A hash of data, as run.json and its kin have it.
std::string content_text(uint64_t hash);
// A run.json as an object whose groups are objects; anything else is an Error.
nlohmann::json read_identity(const std::filesystem::path& path);

// What earlier versions do not name in `model` and `train` was as it is without a word. Of an
// object.
nlohmann::json with_defaults(nlohmann::json settings);
// An Error names the first file of the folder that a run would replace and that no run wrote: a
// README.md that is no model card, and any other where there is no run.json. A tokenizer that is
// the run's own, with this content, may be there.
void check_folder(const std::filesystem::path& folder, std::string_view tokenizer);
// An Error names the first setting that is another than in the folder's run.json, or says that the
// data or the CPU target is; check_folder.
void check_identity(const std::filesystem::path& folder, const PreparedTask& prepared,
                    const ModelConfig& config, const RunSettings& settings);
// Writes run.json where there is none.
void save_identity(const std::filesystem::path& folder, const PreparedTask& prepared,
                   const ModelConfig& config, const RunSettings& settings);

}  // namespace linnet
