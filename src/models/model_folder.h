// model_folder.h -- a model on disk: config.json, model.safetensors and a short model card.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "models/model.h"

namespace linnet {

struct LoadedModel {
  ModelConfig config;
  Block values;
};

// A config.json has the names of its classes: at most a hundred thousand.
inline constexpr size_t kLargestConfigFile = size_t{16} << 20;

// Into a folder that is there. All files are written beside before the first takes its place, so a
// full disk leaves the old model; weights come first, config.json last. `card` is the text of
// README.md, `data` the object of that name in config.json, null for none.
void save_model(const std::filesystem::path& folder, const Model& model, const float* values,
                const std::string& card, const nlohmann::ordered_json& data = nullptr);
ModelConfig load_config(const std::filesystem::path& folder);
// An Error names the file and what is wrong with it: a missing or unknown tensor, a shape that is
// not the config's; or says that the model, to answer, does not fit into the memory.
LoadedModel load_model(const std::filesystem::path& folder,
                       const MemoryBudget& memory = MemoryBudget());
// All but the weights themselves: the whole folder is checked, whatever its size.
ModelConfig check_model(const std::filesystem::path& folder);
// The weights alone, of a model that is known otherwise.
Block load_values(const std::filesystem::path& folder, const Model& model);
bool has_tensor(const std::filesystem::path& folder, const std::string& name);

// What a training run begins with: by the seed; with a folder all but head and parts at the side
// from its model, as far as that has a parameter of the name: a table with other rows (vocabulary,
// positions) gives as many as both have, any other shape is an Error. It takes no memory but that
// of the result, whatever stands in the folder.
Block initial_values(const Model& model, uint64_t seed, const std::filesystem::path& folder);

}  // namespace linnet
