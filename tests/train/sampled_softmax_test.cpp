// sampled_softmax_test.cpp -- draws, the loss against PyTorch and its definition, and the gradient
// of a whole model against differences.
#include "train/sampled_softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "core/error.h"
#include "tests/gradient_check.h"
#include "train/trainer.h"

namespace linnet {
namespace {

const std::vector<int32_t> kTargets = {7, -1, 30, 7, 0, -1};  // three different ones

TEST(SampledSoftmaxTest, DrawsOthersEachAsOften) {
  constexpr int kClasses = 41, kRounds = 4000;
  for (const int64_t drawn : {1, 5, 30, 37}) {
    std::vector<int> counts(kClasses);
    for (uint64_t key = 0; key < kRounds; ++key) {
      const SampledClasses s = sample_classes(kTargets, kClasses, drawn, key);
      ASSERT_EQ(s.classes.size(), static_cast<size_t>(drawn) + 3);
      ASSERT_TRUE(std::ranges::is_sorted(s.classes));
      ASSERT_EQ(std::set<int32_t>(s.classes.begin(), s.classes.end()).size(), s.classes.size());
      for (size_t i = 0; i < s.classes.size(); ++i) {
        ++counts[static_cast<size_t>(s.classes[i])];
        const bool target = s.classes[i] == 0 || s.classes[i] == 7 || s.classes[i] == 30;
        ASSERT_FLOAT_EQ(s.shift[i],
                        target ? 0.0f : static_cast<float>(std::log(38.0 / double(drawn))));
      }
    }
    const double q = static_cast<double>(drawn) / 38;
    for (int c = 0; c < kClasses; ++c) {
      if (c == 0 || c == 7 || c == 30) {
        EXPECT_EQ(counts[static_cast<size_t>(c)], kRounds);
      } else {
        EXPECT_NEAR(counts[static_cast<size_t>(c)], kRounds * q,
                    5 * std::sqrt(kRounds * q * (1 - q)));
      }
    }
  }
  EXPECT_EQ(sample_classes(kTargets, kClasses, 9, 5).classes,
            sample_classes(kTargets, kClasses, 9, 5).classes);
  EXPECT_NE(sample_classes(kTargets, kClasses, 9, 5).classes,
            sample_classes(kTargets, kClasses, 9, 6).classes);
}

TEST(SampledSoftmaxTest, NoMoreOthersThanAskedAreAllClasses) {
  EXPECT_TRUE(sample_classes(kTargets, 41, 38, 1).classes.empty());
  EXPECT_TRUE(sample_classes(kTargets, 41, 100, 1).classes.empty());
  EXPECT_EQ(sample_classes(kTargets, 41, 37, 1).classes.size(), 40u);
}

// The sum over few classes is right in the mean.
TEST(SampledSoftmaxTest, TheSumIsUnbiased) {
  constexpr int kClasses = 41, kRounds = 4000;
  const std::vector<float> z = random_floats(kClasses, 3);
  double whole = 0, mean = 0;
  for (const float x : z) whole += std::exp(x);
  for (uint64_t key = 0; key < kRounds; ++key) {
    const SampledClasses s = sample_classes(kTargets, kClasses, 6, key);
    for (size_t i = 0; i < s.classes.size(); ++i)
      mean += std::exp(z[static_cast<size_t>(s.classes[i])] + s.shift[i]) / kRounds;
  }
  EXPECT_NEAR(mean, whole, 0.02 * whole);
}

constexpr double kGoldenLoss = 7.203990708691391;
constexpr double kGoldenGradient[] = {0.058457,  -0.9489912, 0.7121523, 0.0397257,  0.1386562,
                                      0.4926935, 0.0274837,  0.3837101, 0.0214043,  -0.9252916,
                                      0.2871426, 0.2505566,  0.2236269, -0.8048663, 0.0435402};

// The logits, classes and targets of sampled_golden.py.
TEST(SampledSoftmaxTest, EqualsPyTorch) {
  const SampledClasses sampled{{1, 4, 6, 9, 11}, {std::log(4.0f), 0, std::log(4.0f), 0, 0}};
  const std::vector<int32_t> targets = {4, 11, 9};
  std::vector<float> logits;
  for (int r = 0; r < 3; ++r)
    for (int i = 0; i < 5; ++i) logits.push_back(static_cast<float>((r * 7 + i * 5) % 11) / 4 - 1);
  const Score score = sampled_cross_entropy(sampled, targets, {logits.data(), 5});
  EXPECT_NEAR(score.loss, kGoldenLoss, 1e-5);
  EXPECT_EQ(score.count, 3);
  for (size_t i = 0; i < logits.size(); ++i) EXPECT_NEAR(logits[i], kGoldenGradient[i], 1e-6) << i;
}

// A model of 50 classes on three texts, of whose tokens some have a target.
class SampledModelTest : public testing::Test {
 protected:
  SampledModelTest() {
    config_.task = "tokens";
    config_.pool = "none";
    config_.vocab = config_.classes = 50;
    config_.width = 12;
    config_.heads = 2;
    config_.blocks = 1;
    config_.hidden = 9;
    config_.dropout = 0;
    Random random(8);
    for (const size_t length : {5, 131, 18}) {
      Example& e = examples_.emplace_back();
      for (size_t t = 0; t < length; ++t) {
        e.tokens.push_back(static_cast<int32_t>(random.below(50)));
        e.targets.push_back(random.below(3) ? -1 : static_cast<int32_t>(random.below(20)));
      }
    }
    for (const Example& e : examples_) batch_.push_back(&e);
  }
  // The summed loss at the initial values, moved along a direction; the gradient.
  double loss(int64_t sampled, const std::vector<float>& direction, double step, Block* grads) {
    Context context(2);
    const Model model(config_);
    Block values = Parameters::initial(model, 3);
    for (size_t i = 0; i < direction.size(); ++i)
      values.data()[i] += static_cast<float>(step * direction[i]);
    Trainer trainer(context, model, std::move(values), {.optimizer = {}, .sampled = sampled});
    const double mean = trainer.accumulate(batch_).loss;
    if (grads) *grads = trainer.copy_grads();
    return mean * static_cast<double>(trainer.pending());
  }

  ModelConfig config_;
  std::vector<Example> examples_;
  std::vector<const Example*> batch_;
};

TEST_F(SampledModelTest, GradientAlongDirections) {
  const Model model(config_);
  const int64_t floats = model.layout().floats();
  for (const int64_t sampled : {1, 7, 40}) {
    Block grads;
    loss(sampled, {}, 0, &grads);
    for (const ParamSpec& spec : model.layout().specs()) {
      std::vector<float> direction(static_cast<size_t>(floats));
      const std::vector<float> drawn = random_floats(spec.size(), 4);
      std::ranges::copy(drawn, direction.begin() + spec.offset);
      double along = 0;
      for (size_t i = 0; i < direction.size(); ++i)
        along += static_cast<double>(grads.data()[i]) * direction[i];
      constexpr double kStep = 2e-3;
      const double difference =
          (loss(sampled, direction, kStep, nullptr) - loss(sampled, direction, -kStep, nullptr)) /
          (2 * kStep);
      EXPECT_NEAR(along, difference, 5e-3 * std::abs(difference) + 2e-2) << spec.name;
    }
  }
}

// All but one of the others: close to the whole softmax; all of them: the same bits.
TEST_F(SampledModelTest, ManyAreLikeAll) {
  Block few, whole;
  const double all = loss(0, {}, 0, &whole);
  EXPECT_NEAR(loss(40, {}, 0, nullptr), all, 0.05 * all);
  EXPECT_EQ(loss(50, {}, 0, &few), all);
  for (int64_t i = 0; i < whole.size(); ++i) ASSERT_EQ(few.data()[i], whole.data()[i]);
}

TEST_F(SampledModelTest, NotWithSmoothing) {
  EXPECT_THROW(
      check_training({.optimizer = {}, .label_smoothing = 0.1, .sampled = 5}, Model(config_)),
      Error);
}

}  // namespace
}  // namespace linnet
