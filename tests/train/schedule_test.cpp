// schedule_test.cpp -- the schedules by their formulas, by steps and by the clock.
#include "train/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/error.h"

namespace linnet {
namespace {

TEST(ScheduleTest, InverseRootIsThePapers) {
  const OptimizerConfig config{.lr = 0.05, .warmup = 8000};
  EXPECT_DOUBLE_EQ(learning_rate(config, 1), 0.05 / 8000 / std::sqrt(8000.0));
  EXPECT_DOUBLE_EQ(learning_rate(config, 8000), 0.05 / std::sqrt(8000.0));
  EXPECT_DOUBLE_EQ(learning_rate(config, 20000), 0.05 / std::sqrt(20000.0));
  EXPECT_DOUBLE_EQ(learning_rate(config, 20000, 0.7), 0.05 / std::sqrt(20000.0));
  EXPECT_DOUBLE_EQ(sparse_learning_rate(config, 2000), 0.05 / 4);
  EXPECT_DOUBLE_EQ(sparse_learning_rate(config, 20000), 0.05);
}

TEST(ScheduleTest, FromTheRateToItsEnd) {
  OptimizerConfig config{.lr = 0.2, .warmup = 10, .schedule = "constant", .steps = 100};
  EXPECT_DOUBLE_EQ(learning_rate(config, 5), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate(config, 100), 0.2);
  config.schedule = "linear";
  EXPECT_DOUBLE_EQ(learning_rate(config, 5), 0.1 * 0.96);
  EXPECT_DOUBLE_EQ(learning_rate(config, 51), 0.1);
  EXPECT_NEAR(learning_rate(config, 100), 0.002, 1e-15);  // the last step still learns
  config.schedule = "cosine";
  EXPECT_DOUBLE_EQ(learning_rate(config, 51), 0.1);
  EXPECT_NEAR(learning_rate(config, 76), 0.2 * (1 - std::sqrt(0.5)) / 2, 1e-15);
  config.final_lr = 0.1;
  EXPECT_DOUBLE_EQ(learning_rate(config, 1000), 0.02);
  config.schedule = "linear";
  EXPECT_DOUBLE_EQ(learning_rate(config, 51), 0.2 * 0.55);
}

TEST(ScheduleTest, ByTheClock) {
  const OptimizerConfig config{.lr = 0.2, .warmup = 4, .schedule = "linear"};
  EXPECT_DOUBLE_EQ(learning_rate(config, 2, 0.25), 0.1 * 0.75);
  EXPECT_DOUBLE_EQ(learning_rate(config, 7000, 0.5), 0.1);
  EXPECT_EQ(learning_rate(config, 7000, 1.3), 0);  // the last step may end late
  EXPECT_DOUBLE_EQ(learning_rate(config, 7000, -0.1), 0.2);
  EXPECT_THROW(learning_rate(config, 7000), Error);
}

TEST(ScheduleTest, WrongSettingsNameTheField) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const OptimizerConfig& bad :
       {OptimizerConfig{.lr = nan}, OptimizerConfig{.lr = -1}, OptimizerConfig{.weight_decay = nan},
        OptimizerConfig{.warmup = 0}, OptimizerConfig{.schedule = "cubic"},
        OptimizerConfig{.steps = -1}, OptimizerConfig{.final_lr = 2}, OptimizerConfig{.clip = -1},
        OptimizerConfig{.beta2 = 1}, OptimizerConfig{.sparse_lr = nan}}) {
    try {
      check_optimizer(bad);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).rfind("[train.", 0), 0u) << error.what();
    }
  }
}

}  // namespace
}  // namespace linnet
