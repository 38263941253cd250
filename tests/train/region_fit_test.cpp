// region_fit_test.cpp -- gradients against the complex step and PyTorch (region_fit_golden.py);
// what is learnt, on any number of threads.
#include "train/region_fit.h"

#include <gtest/gtest.h>

#include <string>

#include "core/error.h"
#include "tests/gradient_check.h"

namespace linnet {
namespace {

struct SmallTable {
  SmallTable(int64_t classes, int64_t places, int64_t rows, int64_t units)
      : table(add_region_table(layout, "regions", classes, places, rows, units)),
        values(layout.floats()) {}
  ParamLayout layout;
  RegionTable table;
  Block values;
};

// The definition in complex numbers, the largest by its real part.
std::vector<Complex> logits_of(const RegionTable& table, const std::vector<Complex>& x,
                               const std::vector<int32_t>& tokens) {
  const auto at = [&](int64_t i) { return x[static_cast<size_t>(i)]; };
  const auto T = static_cast<int64_t>(tokens.size()), n = std::min(table.places, T);
  std::vector<Complex> logits;
  for (int64_t c = 0; c < table.columns; ++c) logits.push_back(at(table.out_bias + c));
  for (int64_t u = 0; u < table.units; ++u) {
    Complex top = -1e30;
    for (int64_t t = 0; t + n <= T; ++t) {
      Complex sum = 0;
      for (int64_t p = 0; p < n; ++p) {
        const int32_t token = tokens[static_cast<size_t>(t + p)];
        const int64_t block = u / 64, id = token < table.rows ? token : 0;
        sum += at(table.weight + ((block * table.places + p) * table.rows + id) * 64 + u % 64);
      }
      if (sum.real() > top.real()) top = sum;
    }
    const Complex hidden = top + at(table.bias + u);
    for (int64_t c = 0; hidden.real() > 0 && c < table.columns; ++c)
      logits[static_cast<size_t>(c)] += hidden * at(table.out + u * table.columns + c);
  }
  return logits;
}

TEST(RegionFitTest, GradientsAreThoseOfTheComplexStep) {
  for (const int64_t classes : {2, 3}) {
    for (const size_t T : {1, 2, 3, 40}) {
      for (const double scale : {0.01, 1.0, 100.0}) {
        SmallTable small(classes, 3, 7, 128);
        const RegionTable& table = small.table;
        const std::vector<float> start = random_floats(small.values.size(), T, scale);
        std::copy(start.begin(), start.end(), small.values.data());
        std::vector<int32_t> tokens;
        Random random(T);
        while (tokens.size() < T) tokens.push_back(static_cast<int32_t>(random.below(9)));
        RegionState state(table);
        region_ids(table, tokens, state.ids);
        const std::vector<double> logits = region_forward(table, small.values.data(), state);
        std::vector<Complex> x;
        append(x, small.values.data(), small.values.size());
        const std::vector<Complex> want = logits_of(table, x, tokens);
        ASSERT_EQ(logits.size(), want.size());
        const std::vector<float> dy = random_floats(table.columns, 5);
        for (size_t c = 0; c < want.size(); ++c)
          EXPECT_NEAR(logits[c], want[c].real(), 1e-5 * scale * (1 + 300 * scale));
        const std::vector<double> slopes(dy.begin(), dy.end());
        std::vector<float> slope, gradient(x.size());
        region_backward(table, small.values.data(), state, slopes, slope);
        visit_region_gradient(table, state, slopes, slope, [&](int64_t offset, float d) {
          gradient[static_cast<size_t>(offset)] += d;
        });
        check_gradients(
            [&](const std::vector<Complex>& at) { return logits_of(table, at, tokens); }, x, dy,
            parameter_parts(small.layout, 0), gradient);
      }
    }
  }
}

TEST(RegionFitTest, AgreesWithPyTorch) {
  SmallTable small(3, 2, 5, 64);
  const RegionTable& table = small.table;
  const auto number = [](int64_t i, int64_t factor) {
    return static_cast<float>((i * i * factor + 3) % 10007) / 5000 - 1;
  };
  const auto fill = [&](int64_t offset, int64_t count, int64_t factor) {
    for (int64_t i = 0; i < count; ++i) small.values.data()[offset + i] = number(i, factor);
  };
  fill(table.weight, 2 * 5 * 64, 37);
  fill(table.bias, 64, 29);
  fill(table.out, 64 * 3, 53);
  fill(table.out_bias, 3, 71);
  RegionState state(table);
  region_ids(table, std::vector<int32_t>{1, 4, 2, 9, 2, 0, 3}, state.ids);
  const std::vector<double> logits = region_forward(table, small.values.data(), state);
  const std::vector<double> want = {-4.928985, -0.130338, -0.754539}, dy = {0.7, -1.3, 0.4};
  for (size_t c = 0; c < 3; ++c) EXPECT_NEAR(logits[c], want[c], 1e-4);
  std::vector<float> slope;
  region_backward(table, small.values.data(), state, dy, slope);
  std::vector<double> gradient(static_cast<size_t>(small.values.size()));
  visit_region_gradient(table, state, dy, slope, [&](int64_t offset, float d) {
    gradient[static_cast<size_t>(offset)] += double{d};
  });
  const auto expect_sum = [&](int64_t offset, int64_t count, double sum) {
    for (int64_t i = 0; i < count; ++i)
      sum -= gradient[static_cast<size_t>(offset + i)] * double{number(i, 17)};
    EXPECT_NEAR(sum, 0, 1e-4) << offset;
  };
  expect_sum(table.weight, 2 * 5 * 64, 8.779074);
  expect_sum(table.bias, 64, -3.878131);
  expect_sum(table.out, 64 * 3, 17.070188);
  expect_sum(table.out_bias, 3, 0.2009);
}

// The class is the order of two tokens among many others: no bag of them could tell.
RegionTexts ordered_texts(int classes, size_t count) {
  RegionTexts texts;
  Random random(static_cast<uint64_t>(classes) + count);
  for (size_t i = 0; i < count; ++i) {
    const int label = static_cast<int>(random.below(static_cast<uint32_t>(classes)));
    std::vector<int32_t> tokens;
    while (tokens.size() < 20) tokens.push_back(10 + static_cast<int32_t>(random.below(40)));
    const size_t at = random.below(18);
    for (int k = 0; k < classes; ++k)
      tokens[at + static_cast<size_t>(k)] = 1 + (label + k) % classes;
    texts.tokens.push_back(tokens);
    texts.labels.push_back(label);
  }
  return texts;
}

TEST(RegionFitTest, LearnsOrderOnAnyNumberOfThreads) {
  for (const int classes : {2, 3}) {
    const RegionTexts train = ordered_texts(classes, 600), test = ordered_texts(classes, 300);
    std::vector<std::vector<float>> fitted;
    for (const int threads : {1, 3}) {
      Context context(threads);
      SmallTable small(classes, 2, 50, 256);
      int64_t shown = 0;
      fit_regions(context, small.table, train, 7, small.values.data(),
                  [&](const std::string& what) { shown += what.starts_with("regions, pass "); });
      EXPECT_EQ(shown, 4 * 20);
      int right = 0;
      for (size_t i = 0; i < test.labels.size(); ++i) {
        std::vector<float> logits(static_cast<size_t>(classes));
        add_region_logits(small.table, small.values.data(), test.tokens[i], logits.data());
        right += std::ranges::max_element(logits) - logits.begin() == test.labels[i];
      }
      EXPECT_GT(right, 270) << classes;
      fitted.emplace_back(small.values.data(), small.values.data() + small.values.size());
    }
    EXPECT_EQ(fitted[0], fitted[1]);
  }
}

TEST(RegionFitTest, WhatIsThrownOnTheWayEndsIt) {
  Context context(2);
  SmallTable small(2, 3, 50, 256);  // four members
  int calls = 0;
  const auto stop = [&](const std::string&) {
    if (++calls == 5) throw Error("stopped");
  };
  EXPECT_THROW(
      fit_regions(context, small.table, ordered_texts(2, 20), 1, small.values.data(), stop), Error);
  EXPECT_EQ(calls, 5);
}

TEST(RegionFitTest, NoTextsAndTextsOfOneToken) {
  Context context(1);
  for (const size_t texts : {0, 5}) {
    SmallTable small(2, 3, 50, 64);
    const RegionTexts few{.tokens = std::vector<std::vector<int32_t>>(texts, {3}),
                          .labels = std::vector<int>(texts, 1)};
    fit_regions(context, small.table, few, 1, small.values.data(), [](const std::string&) {});
    float logits[2] = {0, 0};
    add_region_logits(small.table, small.values.data(), std::vector<int32_t>{3}, logits);
    EXPECT_EQ(logits[0], 0);
    EXPECT_EQ(logits[1] > 0.1f, texts > 0);
  }
}

}  // namespace
}  // namespace linnet
