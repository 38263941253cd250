// diagnosis_test.cpp -- numbers go wrong at a known place, and that place is named.
#include "train/diagnosis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/train/small_run.h"

namespace linnet {
namespace {

class DiagnosisTest : public testing::Test {
 protected:
  void SetUp() override {
    rows_ = listops_rows(20);
    for (size_t i = 0; i < rows_.size(); ++i) {
      rows_[i].record = static_cast<int64_t>(100 + i);
      batch_.push_back(&rows_[i]);
    }
  }
  static ModelConfig config() {
    ModelConfig config = small_config("kernel");
    config.blocks = 3;
    config.pool = "mean";
    return config;
  }
  // Overwrites all numbers of a parameter.
  void fill(const std::string& name, float value) {
    for (const ParamSpec& spec : model_.layout().specs()) {
      if (spec.name == name) {
        std::fill_n(values_.data() + spec.offset, spec.size(), value);
        return;
      }
    }
    FAIL() << name;
  }
  Diagnosis diagnosis() {
    Block copy(values_.size());
    std::copy_n(values_.data(), copy.size(), copy.data());
    Trainer trainer(context_, model_, std::move(copy), {});
    trainer.accumulate(batch_);
    const Diagnosis found = trainer.diagnose(batch_);
    norm_ = trainer.update();
    // No step was taken with what is not finite: it can still be looked at.
    if (!std::isfinite(norm_)) {
      EXPECT_EQ(trainer.steps(), 0);
      EXPECT_EQ(trainer.pending(), 0);
      EXPECT_EQ(trainer.diagnose(batch_).where, found.where);
    }
    return found;
  }

  Context context_{2};
  Model model_{config()};
  Block values_ = Parameters::initial(model_, 7);
  std::vector<Example> rows_;
  std::vector<const Example*> batch_;
  double norm_ = 0;
};

TEST_F(DiagnosisTest, NothingIsWrong) {
  const Diagnosis found = diagnosis();
  EXPECT_EQ(found.where, "");
  EXPECT_EQ(found.record, -1);
  // The gradient's norm is that of its groups.
  ASSERT_EQ(found.groups.size(), 8u);
  EXPECT_EQ(found.groups[3].stage, "block 1 mixer");
  double squares = 0;
  for (const Diagnosis::Group& group : found.groups) {
    EXPECT_GT(group.values, 0) << group.stage;
    squares += group.gradient * group.gradient;
  }
  EXPECT_NEAR(std::sqrt(squares), norm_, 1e-6 * norm_);
  // And a parameter is in the group of its layer.
  double feed = 0;
  for (const ParamSpec& spec : model_.layout().specs()) {
    if (!spec.name.starts_with("blocks.1.ffn.") && !spec.name.starts_with("blocks.1.norm2."))
      continue;
    for (int64_t i = 0; i < spec.size(); ++i)
      feed = std::hypot(feed, values_.data()[spec.offset + i]);
  }
  EXPECT_EQ(found.groups[4].stage, "block 1 feed-forward");
  EXPECT_NEAR(found.groups[4].values, feed, 1e-5 * feed);
}

TEST_F(DiagnosisTest, CorruptedWeight) {
  const int64_t at = model_.blocks()[1].feed.in.matrix.weight + 100;
  for (const float value :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    values_.data()[at] = value;
    const Diagnosis found = diagnosis();
    EXPECT_EQ(found.where, "parameter blocks.1.ffn.in.weight");
    EXPECT_EQ(found.record, -1);
    EXPECT_FALSE(std::isfinite(found.largest));
    EXPECT_FALSE(std::isfinite(norm_));
  }
}

TEST_F(DiagnosisTest, OutputOfAStage) {
  const Block start = Parameters::initial(model_, 7);
  const std::pair<const char*, std::vector<const char*>> cases[] = {
      {"output of embedding", {"embed.weight", "embed.positions"}},
      {"output of block 0 mixer", {"blocks.0.mix.v.bias", "blocks.0.mix.out.weight"}},
      {"output of block 1 feed-forward", {"blocks.1.ffn.in.bias", "blocks.1.ffn.out.weight"}},
      {"output of block 2 mixer", {"blocks.2.mix.v.bias", "blocks.2.mix.out.weight"}},
      {"output of head", {"head.0.bias", "head.1.weight"}},
  };
  for (const auto& [where, names] : cases) {
    std::copy_n(start.data(), start.size(), values_.data());
    for (const char* name : names) fill(name, 0.9e18f);
    const Diagnosis found = diagnosis();
    EXPECT_EQ(found.where, where);
    EXPECT_GT(found.largest, kAbsurd);
    EXPECT_GE(found.record, 100);
  }
}

// Zeros hide two large matrices from the forward pass; the backward multiplies them.
TEST_F(DiagnosisTest, GradientAlone) {
  fill("blocks.1.norm2.weight", 0);
  fill("blocks.1.norm2.bias", 0);
  fill("blocks.1.ffn.in.bias", 0);
  fill("blocks.1.ffn.in.weight", 1e13f);
  for (int64_t i = 0; i < 48 * 24; ++i)
    values_.data()[model_.blocks()[1].feed.out.matrix.weight + i] *= 1e13f;
  const Diagnosis found = diagnosis();
  EXPECT_EQ(found.where, "gradient of block 1 feed-forward");
  EXPECT_GE(found.record, 100);
}

// Only one example has the token whose embedding is too large, with dropout's factor of 1 / 0.9.
TEST_F(DiagnosisTest, NamesTheRecord) {
  for (Example& row : rows_) std::ranges::replace(row.tokens, 3, 4);
  rows_[13].tokens.back() = 3;
  std::fill_n(values_.data() + model_.embedding() + 3 * 24, 24, 0.95e18f);
  const Diagnosis found = diagnosis();
  EXPECT_EQ(found.where, "output of embedding");
  EXPECT_EQ(found.record, 113);
}

// Adam's first step moves every weight by the rate, so after it h = LN1(x) is of size 1e6, q and k
// are above 1e12, their features above 1e18, and the products of those beyond a float: the first
// mixer gives NaN.
TEST_F(DiagnosisTest, LearningRateOfAMillion) {
  TrainConfig setup;
  setup.optimizer = {.lr = 1e6, .weight_decay = 0, .warmup = 1, .schedule = "constant"};
  setup.recompute = true;
  Trainer trainer(context_, model_, Parameters::initial(model_, 7), setup);
  trainer.accumulate(batch_);
  EXPECT_EQ(trainer.diagnose(batch_).where, "");
  EXPECT_TRUE(std::isfinite(trainer.update()));
  trainer.accumulate(batch_);
  const Diagnosis found = trainer.diagnose(batch_);
  EXPECT_EQ(found.where, "output of block 0 mixer");
  EXPECT_FALSE(std::isfinite(found.largest));
}

TEST_F(DiagnosisTest, ClassifierOfTokens) {
  ModelConfig setting = config();
  setting.task = "tokens";
  setting.pool = "none";
  const Model model(setting);
  for (Example& row : rows_) row.targets.assign(row.tokens.size(), 1);
  Block values = Parameters::initial(model, 7);
  for (int64_t i = 0; i < 24 * 10; ++i)
    values.data()[model.head()[0].matrix.weight + i] = i < 120 ? 0.9e18f : -0.9e18f;
  Trainer trainer(context_, model, std::move(values), {});
  trainer.accumulate(batch_);
  EXPECT_EQ(trainer.diagnose(batch_).where, "output of head");
}

}  // namespace
}  // namespace linnet
