// autotune.h -- linnet train --autotune: searches settings, and says what it sees.
#pragma once

#include <filesystem>

#include "cli/setting_flags.h"
#include "data/prepare.h"
#include "train/tuning_space.h"

namespace linnet {

struct AutotuneOptions {
  double minutes = 0;
  bool quiet = false;
};

// The candidate to train with. What the user gave by a flag is not searched. When interrupted, it
// ends with exit code 130, and called again it goes on.
Candidate autotune_train(Context& context, const std::filesystem::path& folder,
                         const AutotuneOptions& options, const PreparedTask& prepared,
                         const ModelConfig& config, const RunSettings& settings,
                         const ConfigFlags& model_flags, const RunFlags& run_flags);

}  // namespace linnet
