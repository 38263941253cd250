// layer_norm_test.cpp -- the layer's parameters, values and gradients.
#include "layers/layer_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/gradient_check.h"

namespace linnet {
namespace {

// Flat input: x [rows, width], then the parameter block.
std::vector<Complex> reference(const LayerNorm& norm, int64_t rows,
                               const std::vector<Complex>& input) {
  const int64_t C = norm.width;
  const Complex* params = input.data() + rows * C;
  std::vector<Complex> y;
  for (int64_t r = 0; r < rows; ++r) {
    const Complex* x = input.data() + r * C;
    Complex mean = 0, variance = 0;
    for (int64_t c = 0; c < C; ++c) mean += x[c] / static_cast<double>(C);
    for (int64_t c = 0; c < C; ++c)
      variance += (x[c] - mean) * (x[c] - mean) / static_cast<double>(C);
    for (int64_t c = 0; c < C; ++c) {
      y.push_back((x[c] - mean) / std::sqrt(variance + static_cast<double>(norm.eps)) *
                      params[norm.weight + c] +
                  params[norm.bias + c]);
    }
  }
  return y;
}

TEST(LayerNormLayer, StartsAsThePlainNorm) {
  ParamLayout layout;
  layout.add("before", {3}, Init::ones, 0.0f, false);
  const LayerNorm norm = add_layer_norm(layout, "norm1", 20, 1e-5f);
  ASSERT_EQ(layout.specs().size(), 3u);
  EXPECT_EQ(layout.specs()[1].name, "norm1.weight");
  EXPECT_EQ(layout.specs()[2].name, "norm1.bias");
  EXPECT_FALSE(layout.specs()[1].decay || layout.specs()[2].decay);
  EXPECT_EQ(norm.eps, 1e-5f);

  Context context(1);
  std::vector<float> params(static_cast<size_t>(layout.floats()));
  layout.initialise(1, params.data());
  const std::vector<float> x = random_floats(3 * 20, 2, 5, 3);
  std::vector<float> y(60);
  norm_forward(norm, {.params = params.data()}, 3, {x.data(), 20}, {y.data(), 20});
  for (size_t r = 0; r < 3; ++r) {
    double sum = 0, squares = 0;
    for (size_t c = 0; c < 20; ++c) sum += y[r * 20 + c], squares += y[r * 20 + c] * y[r * 20 + c];
    EXPECT_NEAR(sum / 20, 0, 1e-6);
    EXPECT_NEAR(squares / 20, 1, 1e-5);
  }
}

TEST(LayerNormLayer, ForwardAndGradientsAreThoseOfTheDefinition) {
  Context context(1);
  for (const double scale : {0.25, 1.0, 4.0}) {
    for (const int64_t C : {5, 16, 40, 100}) {
      constexpr int64_t kRows = 4;
      ParamLayout layout;
      layout.add("before", {3}, Init::ones, 0.0f, false);
      const LayerNorm norm = add_layer_norm(layout, "norm", C, 1e-6f);
      const std::vector<float> params = random_floats(layout.floats(), 3);
      const Weights weights{.params = params.data()};
      const std::vector<float> x = random_floats(kRows * C, 4, scale),
                               dy = random_floats(kRows * C, 5);
      std::vector<float> y(x.size());
      norm_forward(norm, weights, kRows, {x.data(), C}, {y.data(), C});

      std::vector<Complex> input;
      append(input, x.data(), kRows * C);
      append(input, params.data(), layout.floats());
      const auto define = [&](const std::vector<Complex>& v) { return reference(norm, kRows, v); };
      const std::vector<Complex> exact = define(input);
      for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], exact[i].real(), 4e-6);

      std::vector<float> gradient(input.size());
      norm_backward(norm, weights, kRows, {x.data(), C}, {dy.data(), C}, {gradient.data(), C},
                    gradient.data() + kRows * C);
      std::vector<GradientPart> parts = parameter_parts(layout, kRows * C);
      parts.push_back({"x", 0, kRows * C});
      check_gradients(define, input, dy, parts, gradient);
    }
  }
}

}  // namespace
}  // namespace linnet
