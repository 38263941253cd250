// pretrain.h -- the first of the two phases of linnet train, in the folder "pretrain" of the run.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/train_loop.h"
#include "train/pretraining.h"

namespace linnet {

// Trains it to its end, from the model in `start` where there is one, and gives its figures; one
// that has ended gives them again. `next`: what the second phase is trained on.
nlohmann::ordered_json pretrain(Context& context, const std::filesystem::path& folder,
                                const Pretraining& pretraining, const PreparedTask& next,
                                const ModelConfig& next_model, const std::filesystem::path& start,
                                bool quiet, Progress& bar, const BarPart& part);

}  // namespace linnet
