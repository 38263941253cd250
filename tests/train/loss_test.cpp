// loss_test.cpp -- losses against their definitions, gradients against complex-step derivatives.
#include "train/loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/gradient_check.h"

namespace linnet {
namespace {

// The definition, for complex numbers: -sum_c t_c log p_c.
Complex softmax_loss(const Complex* z, int classes, int label, double smoothing) {
  Complex total = 0, loss = 0;
  for (int c = 0; c < classes; ++c) total += std::exp(z[c]);
  for (int c = 0; c < classes; ++c) {
    const double target = (c == label ? 1 - smoothing : 0) + smoothing / classes;
    loss -= target * std::log(std::exp(z[c]) / total);
  }
  return loss;
}

Complex sigmoid_loss(const std::vector<Complex>& z, const std::vector<int32_t>& classes) {
  Complex loss = 0;
  for (size_t c = 0; c < z.size(); ++c) {
    const Complex p = 1.0 / (1.0 + std::exp(-z[c]));
    const bool truth =
        std::find(classes.begin(), classes.end(), static_cast<int32_t>(c)) != classes.end();
    loss -= std::log(truth ? p : 1.0 - p);
  }
  return loss / static_cast<double>(z.size());
}

constexpr GradientBound kTight{.relative = 1e-6, .floor = 1e-7};

TEST(LossTest, CrossEntropyByComplexStep) {
  for (const int classes : {1, 2, 10}) {
    for (const double smoothing : {0.0, 0.1, 0.9}) {
      for (const double scale : {0.25, 1.0, 4.0}) {
        const std::vector<float> logits = random_floats(classes, 5, scale);
        const int label = classes / 2;
        std::vector<float> gradient(logits.size());
        const double loss = cross_entropy(logits, label, smoothing, gradient);
        const std::vector<Complex> z(logits.begin(), logits.end());
        EXPECT_NEAR(loss, softmax_loss(z.data(), classes, label, smoothing).real(), 1e-12);
        const auto f = [&](const std::vector<Complex>& at) {
          return std::vector<Complex>{softmax_loss(at.data(), classes, label, smoothing)};
        };
        check_gradients(f, z, {1.0f}, {{"logits", 0, classes}}, gradient, kTight);
      }
    }
  }
}

TEST(LossTest, TokenCrossEntropyByComplexStep) {
  const std::vector<int32_t> targets = {2, -1, 0, 16, 3};
  const auto rows = static_cast<int64_t>(targets.size());
  constexpr int kClasses = 17;
  for (const double smoothing : {0.0, 0.1, 0.9}) {
    const std::vector<float> logits = random_floats(rows * kClasses, 7, 2);
    const std::vector<Complex> z(logits.begin(), logits.end());
    const auto f = [&](const std::vector<Complex>& at) {
      Complex sum = 0;
      for (size_t r = 0; r < targets.size(); ++r) {
        if (targets[r] >= 0)
          sum += softmax_loss(at.data() + r * kClasses, kClasses, targets[r], smoothing);
      }
      return std::vector<Complex>{sum};
    };
    std::vector<float> gradient = logits;
    const Score score =
        token_cross_entropy(rows, kClasses, targets.data(), smoothing, {gradient.data(), kClasses});
    EXPECT_EQ(score.count, 4);
    EXPECT_NEAR(score.loss, f(z)[0].real(), 1e-5);
    check_gradients(f, z, {1.0f}, {{"logits", 0, rows * kClasses}}, gradient,
                    {.relative = 1e-5, .floor = 1e-6, .coordinates = 100});
  }
}

TEST(LossTest, BinaryCrossEntropyByComplexStep) {
  for (const std::vector<int32_t>& classes : {std::vector<int32_t>{}, {3}, {0, 1, 6}}) {
    for (const double scale : {0.25, 1.0, 4.0}) {
      const std::vector<float> logits = random_floats(7, 6, scale);
      std::vector<float> gradient(logits.size());
      const double loss = binary_cross_entropy(logits, classes, gradient);
      const std::vector<Complex> z(logits.begin(), logits.end());
      EXPECT_NEAR(loss, sigmoid_loss(z, classes).real(), 1e-12);
      const auto f = [&](const std::vector<Complex>& at) {
        return std::vector<Complex>{sigmoid_loss(at, classes)};
      };
      check_gradients(f, z, {1.0f}, {{"logits", 0, 7}}, gradient, kTight);
    }
  }
}

TEST(LossTest, FarLogitsStayFinite) {
  const std::vector<float> logits = {1e4f, -1e4f, 0};
  std::vector<float> gradient(3);
  EXPECT_DOUBLE_EQ(cross_entropy(logits, 1, 0, gradient), 2e4);
  EXPECT_EQ(gradient, (std::vector<float>{1, -1, 0}));
  EXPECT_DOUBLE_EQ(binary_cross_entropy(logits, std::vector<int32_t>{1}, gradient),
                   (2e4 + std::log(2.0)) / 3);
  EXPECT_FLOAT_EQ(gradient[0], 1.0f / 3);
  EXPECT_FLOAT_EQ(gradient[1], -1.0f / 3);
}

TEST(LossTest, HitIsTheClassOrTheWholeSet) {
  ModelConfig config;
  config.classes = 3;
  std::vector<float> unused(3);
  const std::vector<float> logits = {2, -1, 0.5f};
  const Model one(config);
  EXPECT_EQ(example_loss(one, {.tokens = {}, .label = 0}, 0, logits, unused).hits, 1);
  EXPECT_EQ(example_loss(one, {.tokens = {}, .label = 2}, 0, logits, unused).hits, 0);
  config.loss = "sigmoid";
  const Model many(config);
  const auto hits = [&](std::vector<int32_t> targets) {
    Example example;
    example.targets = std::move(targets);
    return example_loss(many, example, 0, logits, unused).hits;
  };
  EXPECT_EQ(hits({0, 2}), 1);
  EXPECT_EQ(hits({2, 0, 2}), 1);
  EXPECT_EQ(hits({0}), 0);
  EXPECT_EQ(hits({0, 1, 2}), 0);
  EXPECT_EQ(hits({}), 0);
}

}  // namespace
}  // namespace linnet
