// trainer_test.cpp -- training is the same on any number of threads; what it is told it does, and
// what it must not do it refuses.
#include "train/trainer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "mixers/mixer.h"
#include "tests/train/small_run.h"

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

// The averaged weights by their definition, in double, from the values after every step.
TEST(TrainerTest, AveragesTheWeights) {
  for (const char* mixer : {"kernel", "performer"}) {
    Context context(3);
    const Model model(small_config(mixer));
    TrainConfig setup;
    setup.optimizer = {.lr = 0.05, .weight_decay = 0.01, .warmup = 20};
    setup.ema = 0.4;
    Trainer trainer(context, model, Parameters::initial(model, 7), setup);
    const std::vector<Example> rows = listops_rows(kSmallBatch);
    std::vector<const Example*> batch;
    for (const Example& row : rows) batch.push_back(&row);
    std::vector<double> mean(trainer.values(), trainer.values() + model.layout().floats());
    for (int s = 1; s <= 8; ++s) {
      trainer.accumulate(batch);
      trainer.update();
      const double decay = std::min(0.4, (1.0 + s) / (10.0 + s));
      for (size_t i = 0; i < mean.size(); ++i)
        mean[i] = decay * mean[i] + (1 - decay) * trainer.values()[i];
    }
    for (const ParamSpec& spec : model.layout().specs()) {
      for (int64_t i = spec.offset; i < spec.offset + spec.size(); ++i) {
        if (spec.learned) {
          ASSERT_NEAR(trainer.averaged_values()[i], mean[static_cast<size_t>(i)], 2e-6);
        } else {
          ASSERT_EQ(trainer.averaged_values()[i], trainer.values()[i]) << spec.name;
        }
      }
    }
  }
}

TEST(TrainerTest, WithoutAnAverageTheValues) {
  Context context(1);
  const Model model(small_config("kernel"));
  Trainer trainer(context, model, Parameters::initial(model, 7), {});
  EXPECT_EQ(trainer.averaged_values(), trainer.values());
}

// The loss of a step is the smoothed one of the logits; evaluation knows no smoothing.
TEST(TrainerTest, SmoothsLabelsInTrainingAlone) {
  Context context(1);
  ModelConfig config = small_config("kernel");
  config.dropout = 0;
  const Model model(config);
  const std::vector<Example> rows = listops_rows(20);
  std::vector<const Example*> batch;
  for (const Example& row : rows) batch.push_back(&row);
  TrainConfig setup;
  setup.label_smoothing = 0.3;
  Trainer trainer(context, model, Parameters::initial(model, 7), setup);
  Evaluation evaluation(context, model, trainer.values());
  const Predictions said = evaluation.add(rows);
  double sharp = 0, smooth = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    for (int c = 0; c < kListopsClasses; ++c) {
      const double nats =
          -std::log(said.probabilities[i * kListopsClasses + static_cast<size_t>(c)]);
      sharp += (c == rows[i].label) * nats / 20;
      smooth += ((c == rows[i].label) * 0.7 + 0.3 / kListopsClasses) * nats / 20;
    }
  }
  EXPECT_NEAR(evaluation.result().loss, sharp, 1e-5);
  EXPECT_NEAR(trainer.accumulate(batch).loss, smooth, 1e-5);
  EXPECT_GT(std::abs(smooth - sharp), 1e-3);
}

TEST(TrainerTest, WrongSettingsNameTheField) {
  const Model one(small_config("kernel"));
  ModelConfig config = small_config("kernel");
  config.loss = "sigmoid";
  const Model many(config);
  const auto error_of = [](const Model& model, const TrainConfig& setup) -> std::string {
    try {
      check_training(setup, model);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_of(many, {.optimizer = {}, .ema = 0.999}), "");
  EXPECT_EQ(error_of(one, {.optimizer = {}, .ema = 1}),
            "[train.ema] must be at least 0 and below 1, not 1");
  EXPECT_EQ(error_of(one, {.optimizer = {}, .label_smoothing = -0.1}),
            "[train.label_smoothing] must be at least 0 and below 1, not -0.1");
  EXPECT_NE(
      error_of(many, {.optimizer = {}, .label_smoothing = 0.1}).find("[train.label_smoothing"),
      std::string::npos);
}

}  // namespace
}  // namespace linnet
