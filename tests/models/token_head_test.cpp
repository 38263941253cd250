// token_head_test.cpp -- the classifier of tokens against complex-step derivatives, of all classes
// and of some.
#include "models/token_head.h"

#include <gtest/gtest.h>

#include "tests/gradient_check.h"

namespace linnet {
namespace {

constexpr int64_t kRows = 7, kWidth = 10, kClasses = 37;

// Where the parts are in the flat input: the rows, the norm, the matrix, the bias.
struct Parts {
  const Model& model;
  int64_t base;  // of the parameter block
  Complex at(const std::vector<Complex>& v, int64_t offset) const {
    return v[static_cast<size_t>(base + offset)];
  }
};

// The definition: logits = LN(x) W_S + b_S.
std::vector<Complex> reference(const Parts& parts, const std::vector<int32_t>& classes,
                               const std::vector<Complex>& v) {
  const LayerNorm& norm = parts.model.final_norm();
  const Linear& head = parts.model.head().front();
  std::vector<Complex> logits;
  for (int64_t r = 0; r < kRows; ++r) {
    Complex mean = 0, variance = 0, h[kWidth];
    for (int64_t c = 0; c < kWidth; ++c) mean += v[static_cast<size_t>(r * kWidth + c)] / 10.0;
    for (int64_t c = 0; c < kWidth; ++c) {
      h[c] = v[static_cast<size_t>(r * kWidth + c)] - mean;
      variance += h[c] * h[c] / 10.0;
    }
    for (int64_t c = 0; c < kWidth; ++c)
      h[c] = h[c] / std::sqrt(variance + static_cast<double>(norm.eps)) *
                 parts.at(v, norm.weight + c) +
             parts.at(v, norm.bias + c);
    for (const int32_t cls : classes) {
      Complex z = parts.at(v, head.bias + cls);
      for (int64_t c = 0; c < kWidth; ++c)
        z += h[c] * parts.at(v, head.matrix.weight + c * kClasses + cls);
      logits.push_back(z);
    }
  }
  return logits;
}

TEST(TokenHeadTest, ByComplexStep) {
  ModelConfig config;
  config.task = "tokens";
  config.pool = "none";
  config.classes = kClasses;
  config.width = kWidth;
  config.blocks = 1;
  const Model model(config);
  Context context(1);
  Block values = Parameters::initial(model, 3);
  const std::vector<float> noise = random_floats(values.size(), 4, 0.3);
  for (int64_t i = 0; i < values.size(); ++i) values.data()[i] += noise[static_cast<size_t>(i)];
  const Parameters parameters(context, model, std::move(values), true);
  const Weights weights = parameters.weights();
  std::vector<int32_t> every(kClasses);
  for (int32_t c = 0; c < kClasses; ++c) every[static_cast<size_t>(c)] = c;
  for (const std::vector<int32_t>& some : {std::vector<int32_t>{}, {5}, {0, 2, 3, 17, 36}, every}) {
    for (const double scale : {0.25, 1.0, 4.0}) {
      const std::vector<int32_t>& classes = some.empty() ? every : some;
      std::vector<float> x = random_floats(kRows * kWidth, 5, scale);
      Arena keep, scratch;
      TokenHead head(model, weights, some, keep);
      ASSERT_EQ(head.classes(), static_cast<int64_t>(classes.size()));
      const int64_t n = head.classes();
      std::vector<float> h(x.size()), logits(static_cast<size_t>(kRows * n));
      head.forward(kRows, {x.data(), kWidth}, {h.data(), kWidth}, {logits.data(), n});

      const int64_t base = kRows * kWidth, floats = model.layout().floats();
      std::vector<Complex> input;
      append(input, x.data(), base);
      append(input, parameters.values(), floats);
      const Parts parts{model, base};
      const auto f = [&](const std::vector<Complex>& v) { return reference(parts, classes, v); };
      const std::vector<Complex> want = f(input);
      for (size_t i = 0; i < logits.size(); ++i) EXPECT_NEAR(logits[i], want[i].real(), 2e-5);

      const std::vector<float> dlogits = random_floats(kRows * n, 6);
      std::vector<float> gradient(input.size());
      head.backward(kRows, {x.data(), kWidth}, {h.data(), kWidth}, {dlogits.data(), n},
                    {gradient.data(), kWidth}, gradient.data() + base, scratch);
      head.finish(gradient.data() + base);
      const Linear& linear = model.head().front();
      check_gradients(f, input, dlogits,
                      {{"x", 0, base},
                       {"norm", base + model.final_norm().weight, kWidth},
                       {"norm bias", base + model.final_norm().bias, kWidth},
                       {"weight", base + linear.matrix.weight, kWidth * kClasses},
                       {"bias", base + linear.bias, kClasses}},
                      gradient, {.relative = 2e-5, .floor = 2e-5});
    }
  }
}

TEST(TokenHeadTest, OnlyRowsWithATarget) {
  EXPECT_EQ(rows_with_target(std::vector<int32_t>{-1, 3, 0, -1, 5}),
            (std::vector<int64_t>{1, 2, 4}));
  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  std::vector<float> y(4);
  gather_rows(std::vector<int64_t>{2, 0}, 2, {x.data(), 2}, {y.data(), 2});
  EXPECT_EQ(y, (std::vector<float>{5, 6, 1, 2}));
}

}  // namespace
}  // namespace linnet
