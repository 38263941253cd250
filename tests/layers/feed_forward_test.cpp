// feed_forward_test.cpp -- every feed-forward layer: reference, gradients, chunks, dropout, sizes.
#include "layers/feed_forward.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/gradient_check.h"

namespace linnet {
namespace {

struct Sizes {
  int64_t width, hidden;
};

// A layer with parameters, run over vectors.
struct Driver {
  const FeedForward& kind;
  Context context{1};
  ParamLayout layout;
  FeedForwardPlan plan;
  std::vector<float> params, packed, packed_transposed;
  Weights weights;
  Arena scratch;
  float dropout = 0;
  uint64_t key = 5;

  Driver(const FeedForward& k, Sizes size) : kind(k) {
    plan.width = size.width;
    plan.hidden = size.hidden;
    layout.add("before", {3}, Init::ones, 0.0f, false);
    kind.build(layout, "ffn", plan);
    params.resize(static_cast<size_t>(layout.floats()));
    layout.initialise(1, params.data());
    // Biases start at zero, which would hide them.
    const std::vector<float> noise = random_floats(layout.floats(), 2, 0.1);
    for (size_t i = 0; i < params.size(); ++i) params[i] += noise[i];
    packed.resize(static_cast<size_t>(layout.packed_floats()));
    packed_transposed = packed;
    pack();
    weights = {params.data(), packed.data(), packed_transposed.data()};
  }

  // After a change of the parameters.
  void pack() { layout.pack(context, params.data(), packed.data(), packed_transposed.data()); }

  FeedForwardRun run() {
    return {.plan = plan,
            .weights = weights,
            .scratch = scratch,
            .dropout = dropout,
            .dropout_key = key};
  }

  // y += f(x) with rows cut into chunks; what is saved ends up in `saved`.
  std::vector<float> forward(const std::vector<float>& x, const std::vector<int64_t>& chunks,
                             std::vector<float> y) {
    const int64_t C = plan.width, S = kind.saved_floats(plan);
    saved.assign(x.size() / static_cast<size_t>(C) * static_cast<size_t>(S), -1.0f);
    int64_t first = 0;
    for (const int64_t rows : chunks) {
      kind.forward(run(), rows, first, {x.data() + first * C, C}, {saved.data() + first * S, S},
                   {y.data() + first * C, C});
      first += rows;
    }
    return y;
  }

  // dx, then the block of gradients.
  std::vector<float> backward(const std::vector<float>& x, const std::vector<int64_t>& chunks,
                              const std::vector<float>& dy) {
    const int64_t C = plan.width, S = kind.saved_floats(plan);
    std::vector<float> gradient(x.size() + params.size());
    // dx is written, not added to.
    std::fill_n(gradient.begin(), x.size(), NAN);
    int64_t first = 0;
    for (const int64_t rows : chunks) {
      kind.backward(run(), rows, first, {x.data() + first * C, C}, {saved.data() + first * S, S},
                    {dy.data() + first * C, C}, {gradient.data() + first * C, C},
                    gradient.data() + x.size());
      first += rows;
    }
    return gradient;
  }

  // Flat input: x [rows, C], then the parameter block.
  std::vector<Complex> reference(const std::vector<Complex>& input, int64_t rows) const {
    const int64_t C = plan.width;
    std::vector<Complex> y(static_cast<size_t>(rows * C));
    for (int64_t r = 0; r < rows; ++r) {
      kind.reference(plan, input.data() + rows * C, input.data() + r * C, y.data() + r * C);
    }
    return y;
  }

  std::vector<Complex> input(const std::vector<float>& x) const {
    std::vector<Complex> all(x.begin(), x.end());
    append(all, params.data(), layout.floats());
    return all;
  }

  std::vector<float> saved;
};

// Hidden units go by in blocks of 256: below, at, above and twice that.
constexpr Sizes kSizes[] = {{24, 40}, {16, 256}, {20, 300}, {5, 520}, {1, 1}, {33, 17}};

TEST(FeedForwards, RecordsAreComplete) {
  ASSERT_FALSE(feed_forwards().empty());
  std::set<std::string_view> names;
  for (const FeedForward* kind : feed_forwards()) {
    ASSERT_NE(kind, nullptr);
    EXPECT_FALSE(kind->name.empty() || kind->formula.empty() || kind->summary.empty())
        << kind->name;
    EXPECT_TRUE(names.insert(kind->name).second) << kind->name << " twice";
    EXPECT_EQ(&find_feed_forward(kind->name), kind);
    EXPECT_TRUE(kind->activate && kind->activate_backward && kind->exact)
        << kind->name << " has a hole";
    Driver driver(*kind, {24, 40});
    EXPECT_GT(kind->flops(driver.plan), 0) << kind->name;
    const int64_t before = driver.layout.specs().front().size();
    EXPECT_EQ(kind->parameters(24, 40), driver.layout.parameters() - before) << kind->name;
  }
}

TEST(FeedForwards, AnUnknownNameIsAnErrorThatListsTheNames) {
  try {
    find_feed_forward("no such layer");
    FAIL();
  } catch (const Error& error) {
    for (const FeedForward* kind : feed_forwards()) {
      EXPECT_NE(std::string(error.what()).find(kind->name), std::string::npos) << error.what();
    }
  }
}

// Hidden units in place of other hidden units of another kind, for an equal number of parameters.
TEST(FeedForwards, HiddenUnitsForANumberOfParameters) {
  EXPECT_EQ(find_feed_forward("swiglu").hidden_for(512, 2048 * 1025 + 512), 1365);
  EXPECT_EQ(find_feed_forward("squares-linear").hidden_for(512, 2048 * 1025 + 512), 1792);
  for (const FeedForward* kind : feed_forwards()) {
    for (const int64_t width : {1, 24, 33}) {
      for (const int64_t hidden : {1, 40, 300}) {
        EXPECT_EQ(kind->hidden_for(width, kind->parameters(width, hidden)), hidden);
        const int64_t count = find_feed_forward("gelu").parameters(width, hidden);
        const int64_t found = kind->hidden_for(width, count);
        const auto distance = [&](int64_t units) {
          return std::abs(kind->parameters(width, units) - count);
        };
        EXPECT_GE(found, 1);
        EXPECT_LE(distance(found), distance(found + 1)) << kind->name;
        if (found > 1) {
          EXPECT_LE(distance(found), distance(found - 1)) << kind->name;
        }
      }
    }
  }
}

TEST(FeedForwards, ForwardAddsTheReference) {
  for (const FeedForward* kind : feed_forwards()) {
    for (const Sizes size : kSizes) {
      Driver driver(*kind, size);
      for (const int64_t rows : {1, 7, 128}) {
        const std::vector<float> x = random_floats(rows * size.width, 3);
        const std::vector<float> before = random_floats(rows * size.width, 4);
        const std::vector<float> y = driver.forward(x, {rows}, before);
        const std::vector<Complex> exact = driver.reference(driver.input(x), rows);
        for (size_t i = 0; i < y.size(); ++i) {
          ASSERT_NEAR(y[i], before[i] + exact[i].real(), 1e-5 * (1 + std::abs(exact[i].real())))
              << kind->name << " hidden " << size.hidden << ", rows " << rows;
        }
      }
    }
  }
}

TEST(FeedForwards, GradientsAreTheComplexStepDerivative) {
  for (const FeedForward* kind : feed_forwards()) {
    for (const Sizes size : kSizes) {
      for (const double scale : {0.25, 1.0, 4.0}) {
        for (const int64_t rows : {1, 7}) {
          SCOPED_TRACE(testing::Message() << kind->name << " hidden " << size.hidden << ", rows "
                                          << rows << ", scale " << scale);
          Driver driver(*kind, size);
          const std::vector<float> x = random_floats(rows * size.width, 5, scale);
          const std::vector<float> dy = random_floats(rows * size.width, 6);
          driver.forward(x, {rows}, std::vector<float>(x.size()));
          const std::vector<float> gradient = driver.backward(x, {rows}, dy);
          std::vector<GradientPart> parts = parameter_parts(driver.layout, rows * size.width);
          parts.push_back({"x", 0, rows * size.width});
          check_gradients(
              [&](const std::vector<Complex>& input) { return driver.reference(input, rows); },
              driver.input(x), dy, parts, gradient, {.coordinates = 12});
        }
      }
    }
  }
}

// Nothing, one half or both of what forward can give: the same bits of each.
TEST(FeedForwards, WhatIsSavedAndWhatIsAnsweredDoNotNeedEachOther) {
  for (const FeedForward* kind : feed_forwards()) {
    for (const Sizes size : kSizes) {
      Driver driver(*kind, size);
      driver.dropout = 0.3f;
      const int64_t C = size.width, S = kind->saved_floats(driver.plan);
      constexpr int64_t kRows = 7;
      const std::vector<float> x = random_floats(kRows * C, 11), zero(x.size());
      const std::vector<float> y = driver.forward(x, {kRows}, zero);
      std::vector<float> alone = zero, saved(driver.saved.size(), -1.0f);
      kind->forward(driver.run(), kRows, 0, {x.data(), C}, {}, {alone.data(), C});
      EXPECT_EQ(alone, y) << kind->name;
      kind->forward(driver.run(), kRows, 0, {x.data(), C}, {saved.data(), S}, {});
      EXPECT_EQ(saved, driver.saved) << kind->name;
    }
  }
}

TEST(FeedForwards, ZeroAndLargeInputsStayFinite) {
  for (const FeedForward* kind : feed_forwards()) {
    for (const double scale : {0.0, 1e4}) {
      Driver driver(*kind, {20, 300});
      const std::vector<float> x = random_floats(7 * 20, 12, scale), dy = random_floats(7 * 20, 13);
      std::vector<float> all = driver.forward(x, {7}, std::vector<float>(x.size()));
      const std::vector<float> gradient = driver.backward(x, {7}, dy);
      all.insert(all.end(), gradient.begin(), gradient.end());
      EXPECT_TRUE(std::ranges::all_of(all, [](float v) { return std::isfinite(v); }))
          << kind->name << " scale " << scale;
    }
  }
}

// Tokens at once or in chunks, with dropout: the same bits; sums over tokens within rounding.
TEST(FeedForwards, ChunksDoNotMatter) {
  for (const FeedForward* kind : feed_forwards()) {
    for (const float rate : {0.0f, 0.3f}) {
      Driver driver(*kind, {20, 300});
      driver.dropout = rate;
      constexpr int64_t kRows = 21;
      const std::vector<float> x = random_floats(kRows * 20, 7), dy = random_floats(kRows * 20, 8);
      const std::vector<float> zero(x.size());
      const std::vector<float> y = driver.forward(x, {kRows}, zero), saved = driver.saved;
      const std::vector<float> gradient = driver.backward(x, {kRows}, dy);
      const std::vector<std::vector<int64_t>> cuts = {
          {1, 20}, {9, 12}, {5, 5, 11}, std::vector<int64_t>(kRows, 1)};
      for (const std::vector<int64_t>& chunks : cuts) {
        EXPECT_EQ(driver.forward(x, chunks, zero), y) << kind->name << " rate " << rate;
        EXPECT_EQ(driver.saved, saved);
        const std::vector<float> again = driver.backward(x, chunks, dy);
        for (size_t i = 0; i < gradient.size(); ++i) {
          ASSERT_NEAR(again[i], gradient[i], i < x.size() ? 0 : 2e-5) << kind->name;
        }
      }
    }
  }
}

TEST(FeedForwards, DropoutFollowsItsKey) {
  for (const FeedForward* kind : feed_forwards()) {
    Driver driver(*kind, {20, 300});
    const std::vector<float> x = random_floats(7 * 20, 9), dy = random_floats(7 * 20, 10),
                             zero(7 * 20);
    const std::vector<float> plain = driver.forward(x, {7}, zero);
    driver.dropout = 0.4f;
    const std::vector<float> dropped = driver.forward(x, {7}, zero);
    EXPECT_NE(dropped, plain) << kind->name;
    EXPECT_EQ(driver.forward(x, {7}, zero), dropped);
    driver.key = 6;
    EXPECT_NE(driver.forward(x, {7}, zero), dropped);
    // The output is linear in the mask: its mean over many keys is the layer without dropout.
    driver.dropout = 0.1f;
    std::vector<double> mean(x.size());
    constexpr int kKeys = 400;
    for (int i = 0; i < kKeys; ++i) {
      driver.key = 1000u + 977u * static_cast<uint64_t>(i);
      const std::vector<float> y = driver.forward(x, {7}, zero);
      for (size_t j = 0; j < y.size(); ++j) mean[j] += y[j] / kKeys;
    }
    double error = 0, size = 0;
    for (size_t j = 0; j < plain.size(); ++j) {
      error += std::pow(mean[j] - plain[j], 2);
      size += std::pow(plain[j], 2);
    }
    EXPECT_LT(std::sqrt(error / size), 0.1) << kind->name;
  }
}

// The reference knows no masks, so with dropout the gradient is checked along a direction of inputs
// and parameters by a central difference of the layer itself. Its error is the third power of the
// step, most of it from units of relu2 that cross zero.
TEST(FeedForwards, DropoutOfTheBackwardIsThatOfTheForward) {
  for (const FeedForward* kind : feed_forwards()) {
    for (uint64_t seed = 20; seed < 25; ++seed) {
      Driver driver(*kind, {20, 300});
      driver.dropout = 0.4f;
      const std::vector<float> x = random_floats(7 * 20, seed),
                               dy = random_floats(7 * 20, seed + 30);
      driver.forward(x, {7}, std::vector<float>(x.size()));
      const std::vector<float> gradient = driver.backward(x, {7}, dy), params = driver.params;
      const std::vector<float> direction =
          random_floats(static_cast<int64_t>(gradient.size()), seed + 60, 5e-4);
      double loss[2] = {}, along = 0;
      for (const int side : {0, 1}) {
        std::vector<float> moved = x;
        for (size_t i = 0; i < gradient.size(); ++i) {
          float& value = i < x.size() ? moved[i] : driver.params[i - x.size()];
          const float before = i < x.size() ? x[i] : params[i - x.size()];
          value = side ? before + direction[i] : before - direction[i];
          along += static_cast<double>(gradient[i]) * (value - before) * (side ? 1 : -1);
        }
        driver.pack();
        const std::vector<float> y = driver.forward(moved, {7}, std::vector<float>(x.size()));
        for (size_t i = 0; i < y.size(); ++i) loss[side] += static_cast<double>(dy[i]) * y[i];
      }
      EXPECT_NEAR(loss[1] - loss[0], along, 2e-3 * std::abs(along) + 1e-4) << kind->name;
    }
  }
}

}  // namespace
}  // namespace linnet
