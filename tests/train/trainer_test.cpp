// trainer_test.cpp -- training is the same on any number of threads; the schedule is the paper's.
#include "train/trainer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/error.h"
#include "mixers/mixer.h"
#include "tests/train/small_run.h"
#include "train/schedule.h"

namespace linnet {
namespace {

// Every mixer, and one with a short convolution in front of it and n-grams, both directions.
std::vector<ModelConfig> all_configs() {
  std::vector<ModelConfig> configs;
  for (const Mixer* mixer : mixers()) configs.push_back(small_config(std::string(mixer->name)));
  for (const bool causal : {false, true}) {
    ModelConfig& config = configs.emplace_back(small_config("kernel"));
    config.conv = 3;
    config.ngrams = 3;
    config.ngram_buckets = 300;
    config.causal = causal;
    config.pool = "last";
  }
  return configs;
}

TEST(TrainerTest, SameOnAnyNumberOfThreadsBitForBit) {
  for (const ModelConfig& config : all_configs()) {
    const Trajectory one = train(config, 1, false, 2);
    for (int threads : {2, 3}) {
      const Trajectory other = train(config, threads, false, 2);
      EXPECT_EQ(one.losses, other.losses) << config.mixer;
      EXPECT_EQ(one.values, other.values) << config.mixer;
    }
  }
}

TEST(TrainerTest, RecomputingChangesNothing) {
  for (const ModelConfig& config : all_configs()) {
    EXPECT_EQ(train(config, 1, true, 2).values, train(config, 1, false, 2).values) << config.mixer;
  }
}

TEST(TrainerTest, GradientOfTwoBatchesIsTheSum) {
  Context context(1);
  ModelConfig config = small_config("kernel");
  config.dropout = 0;
  config.ngrams = 2;
  config.ngram_buckets = 100;
  const Model model(config);
  const std::vector<Example> rows = listops_rows(20);
  std::vector<const Example*> all, first, second;
  for (size_t i = 0; i < rows.size(); ++i) {
    all.push_back(&rows[i]);
    (i < 10 ? first : second).push_back(&rows[i]);
  }
  Trainer whole(context, model, Parameters::initial(model, 7), {}),
      parts(context, model, Parameters::initial(model, 7), {});
  whole.accumulate(all);
  parts.accumulate(first);
  parts.accumulate(second);
  const Block want = whole.copy_grads(), got = parts.copy_grads();
  double worst = 0, largest = 0;
  for (int64_t i = 0; i < want.size(); ++i) {
    worst = std::max<double>(worst, std::abs(got.data()[i] - want.data()[i]));
    largest = std::max<double>(largest, std::abs(want.data()[i]));
  }
  EXPECT_LT(worst, 1e-5 * largest);
}

TEST(OptimizerTest, Schedule) {
  const OptimizerConfig config{.lr = 0.05, .warmup = 8000};
  EXPECT_DOUBLE_EQ(learning_rate(config, 1), 0.05 / 8000 / std::sqrt(8000.0));
  EXPECT_DOUBLE_EQ(learning_rate(config, 8000), 0.05 / std::sqrt(8000.0));
  EXPECT_DOUBLE_EQ(learning_rate(config, 20000), 0.05 / std::sqrt(20000.0));
  EXPECT_DOUBLE_EQ(sparse_learning_rate(config, 2000), 0.05 / 4);
  EXPECT_DOUBLE_EQ(sparse_learning_rate(config, 20000), 0.05);
}

TEST(OptimizerTest, WrongSettingsNameTheField) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const OptimizerConfig& bad :
       {OptimizerConfig{.lr = nan}, OptimizerConfig{.lr = -1}, OptimizerConfig{.weight_decay = nan},
        OptimizerConfig{.warmup = 0}, OptimizerConfig{.clip = -1}, OptimizerConfig{.beta2 = 1},
        OptimizerConfig{.sparse_lr = nan}}) {
    try {
      check_optimizer(bad);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).rfind("[train.", 0), 0u) << error.what();
    }
  }
}

TEST(TrainerTest, BadTokensAreAnErrorAndNothingIsLost) {
  Context context(2);
  const Model model(small_config("kernel"));
  Trainer trainer(context, model, Parameters::initial(model, 7), {});
  const Example bad{.tokens = {1, 2, 99}, .label = 0}, good{.tokens = {1, 2, 3}, .label = 0};
  const Example* const both[] = {&good, &bad};
  EXPECT_THROW(trainer.accumulate(both), Error);
  const Example* const one[] = {&good};
  EXPECT_TRUE(std::isfinite(trainer.accumulate(one).loss));
}

}  // namespace
}  // namespace linnet
