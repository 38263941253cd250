// card.h -- README.md of a model folder: what the model is, what it was trained on, how good it is.
#pragma once

#include <string>

#include "data/prepare.h"
#include "models/model.h"
#include "train/run_settings.h"
#include "train/task_score.h"

namespace linnet {

// `score` is on validation.
std::string model_card(const PreparedTask& prepared, const Model& model,
                       const RunSettings& settings, int64_t steps, const TaskScore& score);

}  // namespace linnet
