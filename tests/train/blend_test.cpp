// blend_test.cpp -- the weights of a sum are where its loss is least.
#include "train/blend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/random.h"

namespace linnet {
namespace {

struct Contest {
  int64_t classes;
  std::vector<float> u, v;
  std::vector<int> labels;
  std::vector<std::vector<float>> parts() const { return {u, v}; }
};

// Logits that are `right` times the truth plus noise.
Contest contest(int64_t classes, size_t examples, double right_u, double right_v) {
  Contest c{.classes = classes, .u = {}, .v = {}, .labels = {}};
  Random random(11);
  for (size_t i = 0; i < examples; ++i) {
    c.labels.push_back(static_cast<int>(random.below(static_cast<uint64_t>(classes))));
    for (int k = 0; k < classes; ++k) {
      const double truth = k == c.labels.back();
      c.u.push_back(static_cast<float>(right_u * truth + random.normal()));
      c.v.push_back(static_cast<float>(right_v * truth + random.normal()));
    }
  }
  return c;
}

// The definition, straight.
double objective(const Contest& c, double a, double b) {
  double squares_u = 0, squares_v = 0;
  for (const float x : c.u) squares_u += double{x} * double{x};
  for (const float x : c.v) squares_v += double{x} * double{x};
  const double b1 = b / std::sqrt(squares_u / squares_v) - 1;
  double total = kBlendPull / 2 * ((a - 1) * (a - 1) + b1 * b1);
  const auto width = static_cast<size_t>(c.classes);
  for (size_t i = 0; i < c.labels.size(); ++i) {
    const auto logit = [&](size_t k) { return a * c.u[i * width + k] + b * c.v[i * width + k]; };
    double sum = 0;
    for (size_t k = 0; k < width; ++k) sum += std::exp(logit(k));
    total += std::log(sum) - logit(static_cast<size_t>(c.labels[i]));
  }
  return total;
}

TEST(BlendTest, IsWhereTheLossIsLeast) {
  for (const int64_t classes : {2, 3, 10}) {
    for (const double right : {-2.0, 0.0, 0.3, 2.0, 30.0}) {
      const Contest c = contest(classes, 400, 1.0, right);
      const std::vector<double> blend = fit_blend(classes, c.parts(), c.labels);
      const double least = objective(c, blend[0], blend[1]);
      for (const double step : {1e-3, 1e-1}) {
        for (const auto& [da, db] :
             {std::pair{step, 0.0}, {-step, 0.0}, {0.0, step}, {0.0, -step}}) {
          if (blend[0] + da < 0 || blend[1] + db < 0) continue;
          EXPECT_GT(objective(c, blend[0] + da, blend[1] + db), least) << classes << right;
        }
      }
    }
  }
}

TEST(BlendTest, TheSizeOfTheSecondDoesNotMatter) {
  Contest c = contest(3, 50, 1.0, 1.0);
  const std::vector<double> blend = fit_blend(3, c.parts(), c.labels);
  for (float& x : c.v) x *= 1e-4f;
  const std::vector<double> small = fit_blend(3, c.parts(), c.labels);
  EXPECT_NEAR(small[0], blend[0], 1e-4);
  EXPECT_NEAR(small[1] * 1e-4, blend[1], 1e-4);
}

TEST(BlendTest, TheBetterOneCountsForMore) {
  const Contest c = contest(2, 1000, 0.2, 3.0);
  const std::vector<double> blend = fit_blend(2, c.parts(), c.labels);
  EXPECT_GT(blend[1], 3 * blend[0]);
}

TEST(BlendTest, WithoutExamplesAllCountAsTheyAre) {
  EXPECT_EQ(fit_blend(4, std::vector<std::vector<float>>(3), {}), std::vector<double>(3, 1.0));
}

TEST(BlendTest, WhatIsWrongIsLeftOutNotTurnedRound) {
  const Contest c = contest(3, 100, 1.0, -3.0);
  const std::vector<double> blend = fit_blend(3, c.parts(), c.labels),
                            alone = fit_blend(3, std::vector<std::vector<float>>{c.u}, c.labels);
  EXPECT_EQ(blend[1], 0);
  EXPECT_NEAR(blend[0], alone[0], 1e-9);
  EXPECT_EQ(fit_blend(3, std::vector{c.v, c.v, c.v}, c.labels), std::vector<double>(3, 0.0));
}

// Two that are alike share what one of them would have, or more: the pull is less on each.
TEST(BlendTest, ThirdPart) {
  const Contest c = contest(3, 500, 1.0, 2.0);
  const std::vector<double> two = fit_blend(3, c.parts(), c.labels),
                            three = fit_blend(3, std::vector{c.u, c.v, c.v}, c.labels);
  EXPECT_NEAR(three[1], three[2], 1e-9);
  EXPECT_NEAR(three[1] + three[2], two[1], 0.02 * two[1]);
  EXPECT_NEAR(three[0], two[0], 0.02 * two[0]);
}

}  // namespace
}  // namespace linnet
