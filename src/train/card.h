// card.h -- README.md of a model folder: what the model is, what it was trained on, how good it is.
#pragma once

#include <string>
#include <string_view>

#include "data/prepare.h"
#include "models/model.h"
#include "train/run_settings.h"
#include "train/task_score.h"

namespace linnet {

// `score` is on validation.
std::string model_card(const PreparedTask& prepared, const Model& model,
                       const RunSettings& settings, int64_t steps, const TaskScore& score);

// Whether a text is such a card, with nothing of others before or after it.
bool is_model_card(std::string_view text);

}  // namespace linnet
