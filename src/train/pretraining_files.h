// pretraining_files.h -- what a run with two phases keeps of its beginning and of its first phase:
// start.json, and result.json in the folder "pretrain".
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "data/prepare.h"
#include "train/pretraining.h"

namespace linnet {

inline constexpr const char* kPretrainFolder = "pretrain";
inline constexpr const char* kStartFile = "start.json";

// A folder goes on only from the beginning that it had: an Error names the first setting that is
// another, or says that the texts without labels are.
void check_start(const std::filesystem::path& folder, const PreparedTask& prepared,
                 const PretrainSettings& settings, const std::string& init);
// Writes start.json where a new run needs it.
void save_start(const std::filesystem::path& folder, const PreparedTask& prepared,
                const PretrainSettings& settings, const std::string& init);

// The figures of a first phase that has ended; null while it has not.
nlohmann::ordered_json load_result(const std::filesystem::path& folder);
void save_result(const std::filesystem::path& folder, const nlohmann::ordered_json& result);

// The content of the two files; an Error names `place` and what is wrong.
nlohmann::json parse_start(std::string_view text, const std::string& place);
nlohmann::ordered_json parse_result(std::string_view text, const std::string& place);

}  // namespace linnet
