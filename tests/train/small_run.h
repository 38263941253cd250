// small_run.h -- a small model trained for some steps on ListOps, as the trainer's tests compare
// it.
#pragma once

#include <string>
#include <vector>

#include "data/listops.h"
#include "train/trainer.h"

namespace linnet {

constexpr int64_t kSmallBatch = 40;

inline std::vector<Example> listops_rows(int64_t rows) {
  std::vector<Example> examples;
  for (const ListopsExample& row : make_listops(listops_short(), 3, rows)) {
    examples.push_back({.tokens = {row.tokens.begin(), row.tokens.end()}, .label = row.label});
  }
  return examples;
}

inline ModelConfig small_config(const std::string& mixer) {
  ModelConfig config;
  config.vocab = kListopsVocabulary;
  config.classes = kListopsClasses;
  config.length = 100;
  config.width = 24;
  config.heads = 2;
  config.blocks = 2;
  config.hidden = 48;
  config.head_units = 24;
  config.mixer = mixer;
  config.dropout = 0.1;
  return config;
}

// Losses of some steps on one batch after another, and the values after them.
struct Trajectory {
  std::vector<double> losses;
  std::vector<float> values;
};

inline Trajectory train(const ModelConfig& config, int threads, bool recompute, int steps) {
  Context context(threads);
  const Model model(config);
  TrainConfig setup;
  setup.optimizer = {.lr = 0.05, .weight_decay = 0.01, .warmup = 20};
  setup.recompute = recompute;
  setup.lanes = 3;
  Trainer trainer(context, model, Parameters::initial(model, 7), setup);
  const std::vector<Example> rows = listops_rows(2 * kSmallBatch);
  Trajectory result;
  for (int step = 0; step < steps; ++step) {
    std::vector<const Example*> batch;
    for (size_t i = 0; i < kSmallBatch; ++i)
      batch.push_back(&rows[(static_cast<size_t>(step) * kSmallBatch + i) % rows.size()]);
    result.losses.push_back(trainer.accumulate(batch).loss);
    trainer.update();
  }
  result.values.assign(trainer.values(), trainer.values() + model.layout().floats());
  return result;
}

}  // namespace linnet
