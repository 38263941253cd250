// task_settings.h -- the part of a model folder that is about data: the object "data" of
// config.json, and the tokenizer.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "data/task.h"

namespace linnet {

nlohmann::ordered_json task_settings_to_json(const TaskSettings& settings);

// What a text must go through before the model of the folder sees it.
struct LoadedTask {
  TaskSettings settings;
  std::unique_ptr<Tokenizer> tokenizer;
};
// A model without "data" (one that was made by quickstart, say) is an Error.
LoadedTask load_task(const std::filesystem::path& folder, const ModelConfig& model);

}  // namespace linnet
