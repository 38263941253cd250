// tuning_space.h -- the few settings that a search tries, around those that a run would have.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/task.h"
#include "models/config.h"
#include "train/run_settings.h"

namespace linnet {

struct Candidate {
  nlohmann::ordered_json changes;  // name of a setting to its value; of the first there are none
  ModelConfig config;
  RunSettings settings;
};

// Learning rate (a quarter to four times), weight decay, dropout, width (half or twice, with the
// hidden units), and n-grams where the task is about text. `given` tells what the user has decided:
// that stays. The first candidate is the run as it is, the others are drawn by its seed; a power of
// two in all, at most `most`. Nothing left to try is an Error.
std::vector<Candidate> tuning_candidates(const Task& task, const ModelConfig& config,
                                         const RunSettings& settings,
                                         const std::function<bool(const std::string& name)>& given,
                                         size_t most = 8);

}  // namespace linnet
