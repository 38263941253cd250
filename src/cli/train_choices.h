// train_choices.h -- what linnet train decides by itself, and says.
#pragma once

#include <string>

#include "cli/setting_flags.h"
#include "data/prepare.h"
#include "models/model.h"
#include "train/pretraining.h"
#include "train/run_settings.h"

namespace linnet {

// --data, --validation, --test, --tokenizer and the like, but not --task.
void add_choice_flags(CLI::App& verb, DataChoice& choice);

// Names of what to start from; empty: the task's own choice.
struct Recipe {
  std::string profile = {};  // "paper" or "desk"
  std::string row = {};      // of the paper's Table 1
  std::string init = {};     // the folder of a model to begin with
};

// Unknown names are an Error that lists the known, before the data is read; `task` may be empty.
void check_recipe(const Recipe& recipe, const std::string& task);
// What the recipe or the task starts from, with what the user gave on top.
RunSettings settings_of(const PreparedTask& prepared, const Recipe& recipe, const RunFlags& flags);
ModelConfig model_of(const PreparedTask& prepared, const Recipe& recipe, const ConfigFlags& flags);

// `first`: of pretraining, or null.
void say_choices(const PreparedTask& prepared, const Recipe& recipe, const Model& model,
                 const RunSettings& settings, const Pretraining* first);

}  // namespace linnet
