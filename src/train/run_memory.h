// run_memory.h -- what training takes in memory, reckoned before anything of it is there.
#pragma once

#include "data/prepare.h"
#include "models/memory_need.h"
#include "train/run_settings.h"
#include "train/trainer.h"

namespace linnet {

// A Trainer, and a look at validation beside it, with sequences of T tokens.
MemoryNeed training_need(const Model& model, const TrainConfig& config, int threads, int64_t T);

// A whole run: also its data in memory, and the fit of what stands at the model's side.
MemoryNeed run_need(const ModelConfig& config, const PreparedTask& prepared,
                    const RunSettings& settings, int threads);

}  // namespace linnet
