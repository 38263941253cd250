// model_folder.h -- a model on disk: config.json, model.safetensors and a short model card.
#pragma once

#include <filesystem>
#include <string>

#include "models/model.h"

namespace linnet {

struct LoadedModel {
  ModelConfig config;
  Block values;
};

// Writes weights first, config last, each beside and renamed. `card` is the text of README.md.
void save_model(const std::filesystem::path& folder, const Model& model, const float* values,
                const std::string& card);
ModelConfig load_config(const std::filesystem::path& folder);
// An Error names the file and what is wrong with it: a missing or unknown tensor, a shape that is
// not the config's.
LoadedModel load_model(const std::filesystem::path& folder);

}  // namespace linnet
