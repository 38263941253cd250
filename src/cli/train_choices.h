// train_choices.h -- what linnet train decides by itself, and says.
#pragma once

#include <filesystem>
#include <string>

#include "cli/setting_flags.h"
#include "data/prepare.h"
#include "models/model.h"
#include "train/pretraining.h"
#include "train/run_settings.h"

namespace linnet {

// What the task starts from, with what the user gave on top.
RunSettings settings_of(const PreparedTask& prepared, const RunFlags& flags);
// `row`: of the paper's Table 1, or empty; `init`: the folder of a model to begin with, or empty.
ModelConfig model_of(const PreparedTask& prepared, const std::string& row, const std::string& init,
                     const ConfigFlags& flags);

// A folder goes on only with the data and settings that it began with: an Error names the first
// that is another.
void check_identity(const std::filesystem::path& folder, const PreparedTask& prepared,
                    const ModelConfig& config, const RunSettings& settings);

// `first`: of pretraining, or null.
void say_choices(const PreparedTask& prepared, const Model& model, const RunSettings& settings,
                 const Pretraining* first);

}  // namespace linnet
