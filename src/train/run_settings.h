// run_settings.h -- how a model is trained: every setting of a run but the model's own.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "data/feed.h"
#include "train/trainer.h"

namespace linnet {

struct RunSettings {
  // The run ends with the first of these that is reached; 0: not that one.
  int64_t steps = 0;
  double epochs = 0;
  double minutes = 0;

  int64_t seed = 1;
  int64_t batch = 32;
  int64_t batch_tokens = 0;
  int64_t accumulate = 1;
  int64_t accumulate_tokens = 0;
  int64_t group = 1;
  int64_t window = 64'000'000;

  std::string schedule = "cosine";
  double lr = 0.003;
  int64_t warmup = 100;
  double final_lr = 0;
  double sparse_lr = 0.05;
  double embed_rate = 1;
  double weight_decay = 0.01;
  double clip = 1;
  double label_smoothing = 0;
  double drop_tokens = 0;
  int64_t sampled = 0;
  double ema = 0;
  double orthogonality = 0.1;
  bool recompute = false;

  int64_t evaluations = 10;
  int64_t validation_rows = 4000;
  int64_t patience = 0;
  std::string choose_by;  // a figure of validation; empty: the task's
  int64_t checkpoint_every = 0;
};

nlohmann::ordered_json run_settings_to_json(const RunSettings& settings);
// Checked; an Error names the field, e.g. "[train.lr] ...".
RunSettings run_settings_from_json(const nlohmann::json& json);
// One sentence for each setting, by its name.
std::map<std::string, std::string> run_settings_help();

FeedOptions feed_options(const RunSettings& settings);
TrainConfig train_config(const RunSettings& settings);

}  // namespace linnet
