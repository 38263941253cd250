// run_profiles.cpp -- the settings of the LRA recipe, and of runs of a few minutes.
#include "train/run_profiles.h"

#include "models/profiles.h"

namespace linnet {

RunSettings profile_settings(std::string_view profile, std::string_view task) {
  profile_config(profile, task, "transformer");  // names that are not known end here
  RunSettings s;
  s.batch = 32;
  if (profile == "paper") {
    const bool listops = task == "listops";
    s.schedule = "rsqrt";
    s.lr = listops ? 0.005 : 0.05;
    s.weight_decay = 0.1;
    s.warmup = listops ? 1000 : 8000;
    s.steps = task == "text" ? 20000 : 15000;
    s.evaluations = s.steps / (listops ? 50 : 200);
    return s;
  }
  // A few minutes: the schedule comes to its end within them.
  s.schedule = "cosine";
  s.lr = 0.003;
  s.weight_decay = 0.01;
  s.warmup = 50;
  s.steps = 500;
  s.evaluations = 5;
  s.validation_rows = 2000;
  if (task == "listops") return s;
  s.choose_by = "loss";  // accuracies of models that read little are chance
  if (task == "text") {
    // Bytes: their embeddings have the furthest way to go.
    s.lr = 0.004;
    s.embed_rate = 20;
    s.ema = 0.998;
    s.steps = 2500;
    s.evaluations = 10;
    s.validation_rows = 4000;
  } else {
    s.lr = 0.002;
    s.ema = 0.99;
    s.steps = 2400;  // two passes; the first leaves chance
    s.evaluations = 8;
  }
  return s;
}

}  // namespace linnet
