// run_target.cpp -- what run.json says of the target, in the folder and in those of its first runs.
#include "train/run_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/context.h"
#include "core/error.h"
#include "core/file.h"
#include "models/model_folder.h"
#include "train/autotune.h"
#include "train/pretraining_files.h"
#include "train/run_identity.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

// The run.json files that are there: the run's own, of its pretraining, of its search.
std::vector<fs::path> identities_of(const fs::path& folder) {
  std::vector<fs::path> files = {folder / kRunFile, folder / kPretrainFolder / kRunFile};
  std::error_code none;
  for (const auto& candidate : fs::directory_iterator(folder / kSearchFolder, none))
    files.push_back(candidate.path() / kRunFile);
  std::sort(files.begin() + 2, files.end());
  std::erase_if(files, [](const fs::path& file) { return !fs::exists(file); });
  return files;
}

std::string target_of(const nlohmann::json& identity) {
  return identity.value(kTargetEntry, std::string());
}

}  // namespace

void take_target(const fs::path& folder, bool change) {
  Context::use_target("");
  const std::string usual = Context::target();
  for (const fs::path& file : identities_of(folder)) {
    const std::string began = target_of(read_identity(file));
    if (began.empty()) continue;
    if (change) {
      auto json = nlohmann::ordered_json::parse(read_file(file, kLargestConfigFile));
      json[kTargetEntry] = usual;
      write_file(file, json.dump(2) + "\n");
      continue;
    }
    if (began == usual) return;
    if (!Context::wished_target().empty()) {
      throw Error(
          fmt::format("[LINNET_TARGET] the run in {} began with {}, not {}: leave it out, or give "
                      "--change-target for a result that differs in its last bits",
                      place_of(folder), printable(began, 40), usual));
    }
    if (!Context::has_target(began)) {
      throw Error(fmt::format(
          "[{}] the run began with CPU target {}, which this CPU does not have: go on where it "
          "began, or give --change-target for a result that differs in its last bits",
          place_of(file), printable(began, 40)));
    }
    return Context::use_target(began);
  }
}

void check_target(const fs::path& path, const nlohmann::json& identity) {
  const std::string began = target_of(identity);
  if (began.empty() || began == Context::target()) return;
  throw Error(fmt::format("[{}] the run began with CPU target {}, not {}", place_of(path),
                          printable(began, 40), Context::target()));
}

}  // namespace linnet
