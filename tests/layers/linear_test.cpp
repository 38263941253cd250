// linear_test.cpp -- y = x W + b forward and backward, and slices of W.
#include "layers/linear.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/gradient_check.h"

namespace linnet {
namespace {

// A linear layer with its weights in every form that the products need.
struct Fixture {
  Context context{1};
  ParamLayout layout;
  Linear linear;
  std::vector<float> params, packed, packed_transposed;
  Weights weights;
  Arena scratch;

  Fixture(int64_t in, int64_t out) {
    // Something in front, so that offsets are not zero.
    add_linear(layout, "first", 3, 5);
    linear = add_linear(layout, "layer", in, out);
    params = random_floats(layout.floats(), 1, 0.3);
    packed.resize(static_cast<size_t>(layout.packed_floats()));
    packed_transposed = packed;
    layout.pack(context, params.data(), packed.data(), packed_transposed.data());
    weights = {params.data(), packed.data(), packed_transposed.data()};
  }
};

std::vector<float> zeros(int64_t n) { return std::vector<float>(static_cast<size_t>(n)); }

TEST(Linear, AddsItsParameters) {
  ParamLayout layout;
  const Linear linear = add_linear(layout, "out", 5, 9);
  ASSERT_EQ(layout.specs().size(), 2u);
  EXPECT_EQ(layout.specs()[0].name, "out.weight");
  EXPECT_EQ(layout.specs()[0].shape, (std::vector<int64_t>{5, 9}));
  EXPECT_EQ(layout.specs()[1].name, "out.bias");
  EXPECT_EQ(layout.specs()[1].shape, (std::vector<int64_t>{9}));
  EXPECT_TRUE(layout.specs()[0].decay && !layout.specs()[1].decay);
  EXPECT_EQ(linear.in(), 5);
  EXPECT_EQ(linear.out(), 9);
  EXPECT_EQ(layout.parameters(), 5 * 9 + 9);
}

// Flat input: x [rows, in], then the parameter block.
std::vector<Complex> reference(const Linear& linear, int64_t rows,
                               const std::vector<Complex>& input) {
  const int64_t in = linear.in(), out = linear.out();
  const Complex* params = input.data() + rows * in;
  std::vector<Complex> y(static_cast<size_t>(rows * out));
  for (int64_t i = 0; i < rows * out; ++i) {
    Complex sum = params[linear.bias + i % out];
    for (int64_t k = 0; k < in; ++k) {
      sum += input[static_cast<size_t>(i / out * in + k)] *
             params[linear.matrix.weight + k * out + i % out];
    }
    y[static_cast<size_t>(i)] = sum;
  }
  return y;
}

TEST(Linear, ForwardAndGradientsAreThoseOfTheDefinition) {
  for (const auto& [in, out] : {std::pair<int64_t, int64_t>{1, 1}, {5, 7}, {16, 33}, {40, 16}}) {
    for (const int64_t rows : {1, 6, 13}) {
      Fixture f(in, out);
      const std::vector<float> x = random_floats(rows * in, 2), dy = random_floats(rows * out, 3);
      const std::vector<float> before = random_floats(rows * std::max(in, out), 4);
      std::vector<float> y = zeros(rows * out), added(before.begin(), before.begin() + rows * out);
      linear_forward(f.linear, f.weights, rows, {x.data(), in}, {y.data(), out});
      linear_forward(f.linear, f.weights, rows, {x.data(), in}, {added.data(), out}, true);

      std::vector<Complex> input;
      append(input, x.data(), rows * in);
      append(input, f.params.data(), f.layout.floats());
      const auto define = [&](const std::vector<Complex>& v) {
        return reference(f.linear, rows, v);
      };
      const std::vector<Complex> exact = define(input);
      for (size_t i = 0; i < y.size(); ++i) {
        ASSERT_NEAR(y[i], exact[i].real(), 1e-5);
        ASSERT_NEAR(added[i], before[i] + exact[i].real(), 1e-5);
      }

      std::vector<float> gradient = zeros(rows * in + f.layout.floats());
      float* grads = gradient.data() + rows * in;
      linear_backward_input(f.linear, f.weights, rows, {dy.data(), out}, {gradient.data(), in});
      linear_backward_weights(f.linear, rows, {x.data(), in}, {dy.data(), out}, grads, f.scratch);
      std::vector<GradientPart> parts = parameter_parts(f.layout, rows * in);
      parts.push_back({"x", 0, rows * in});
      check_gradients(define, input, dy, parts, gradient);

      // A second backward adds to the parameters, and to dx on demand.
      std::vector<float> twice = gradient;
      linear_backward_input(f.linear, f.weights, rows, {dy.data(), out}, {twice.data(), in}, true);
      linear_backward_weights(f.linear, rows, {x.data(), in}, {dy.data(), out},
                              twice.data() + rows * in, f.scratch);
      for (size_t i = 0; i < twice.size(); ++i) {
        ASSERT_NEAR(twice[i], 2.0 * gradient[i], 1e-5 * (1 + std::abs(gradient[i])));
      }
    }
  }
}

// A slice is the matrix that holds those columns (or rows) and no others.
TEST(Linear, ColumnSlicesEqualTheWhole) {
  constexpr int64_t kIn = 37, kOut = 72, kRows = 9;
  Fixture f(kIn, kOut);
  const std::vector<float> x = random_floats(kRows * kIn, 5), dy = random_floats(kRows * kOut, 6);
  std::vector<float> y = zeros(kRows * kOut), y_parts = y, dx = zeros(kRows * kIn), dx_parts = dx;
  std::vector<float> grads = zeros(f.layout.floats()), grads_parts = grads;
  const Matrix& whole = f.linear.matrix;
  matrix_forward(whole, f.weights, kRows, {x.data(), kIn}, {y.data(), kOut});
  matrix_backward_input(whole, f.weights, kRows, {dy.data(), kOut}, {dx.data(), kIn});
  matrix_backward_weights(whole, kRows, {x.data(), kIn}, {dy.data(), kOut}, grads.data(),
                          f.scratch);
  // Starts are multiples of 16, lengths are not.
  for (const auto& [first, n] : {std::pair<int64_t, int64_t>{0, 16}, {16, 32}, {48, 24}}) {
    const Matrix part = whole.columns(first, n);
    EXPECT_EQ(part.in, kIn);
    EXPECT_EQ(part.out, n);
    const ConstMat dy_part(dy.data() + first, kOut);
    matrix_forward(part, f.weights, kRows, {x.data(), kIn}, {y_parts.data() + first, kOut});
    matrix_backward_weights(part, kRows, {x.data(), kIn}, dy_part, grads_parts.data(), f.scratch);
    matrix_backward_input(part, f.weights, kRows, dy_part, {dx_parts.data(), kIn}, first > 0);
  }
  EXPECT_EQ(y_parts, y);
  EXPECT_EQ(grads_parts, grads);
  // dx is a sum over the columns, here in parts: the same within rounding.
  for (size_t i = 0; i < dx.size(); ++i) EXPECT_NEAR(dx_parts[i], dx[i], 1e-5);
}

TEST(Linear, RowSlicesEqualTheWhole) {
  constexpr int64_t kIn = 72, kOut = 37, kRows = 9;
  Fixture f(kIn, kOut);
  const std::vector<float> x = random_floats(kRows * kIn, 7), dy = random_floats(kRows * kOut, 8);
  std::vector<float> y = zeros(kRows * kOut), y_parts = y, dx = zeros(kRows * kIn), dx_parts = dx;
  std::vector<float> grads = zeros(f.layout.floats()), grads_parts = grads;
  const Matrix& whole = f.linear.matrix;
  matrix_forward(whole, f.weights, kRows, {x.data(), kIn}, {y.data(), kOut});
  matrix_backward_input(whole, f.weights, kRows, {dy.data(), kOut}, {dx.data(), kIn});
  matrix_backward_weights(whole, kRows, {x.data(), kIn}, {dy.data(), kOut}, grads.data(),
                          f.scratch);
  for (const auto& [first, n] : {std::pair<int64_t, int64_t>{0, 16}, {16, 32}, {48, 24}}) {
    const Matrix part = whole.rows(first, n);
    EXPECT_EQ(part.in, n);
    EXPECT_EQ(part.out, kOut);
    const ConstMat x_part(x.data() + first, kIn), dy_all(dy.data(), kOut);
    matrix_forward(part, f.weights, kRows, x_part, {y_parts.data(), kOut}, nullptr, first > 0);
    matrix_backward_weights(part, kRows, x_part, dy_all, grads_parts.data(), f.scratch);
    matrix_backward_input(part, f.weights, kRows, dy_all, {dx_parts.data() + first, kIn});
  }
  EXPECT_EQ(dx_parts, dx);
  EXPECT_EQ(grads_parts, grads);
  for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y_parts[i], y[i], 1e-5);
}

TEST(Linear, SlicesOfSlicesAreSlices) {
  Fixture f(64, 96);
  const Matrix& whole = f.linear.matrix;
  const Matrix block = whole.columns(32, 50).rows(16, 40),
               same = whole.rows(16, 40).columns(32, 50);
  EXPECT_EQ(block.weight, whole.weight + 16 * 96 + 32);
  EXPECT_EQ(same.weight, block.weight);
  EXPECT_EQ(same.packed, block.packed);
  EXPECT_EQ(same.packed_transposed, block.packed_transposed);
  EXPECT_EQ(whole.columns(32, 64).columns(16, 48).packed, whole.columns(48, 48).packed);
  // Its product: rows 16..55 of x, columns 32..81 of y.
  const std::vector<float> x = random_floats(64, 9);
  std::vector<float> y = zeros(50);
  matrix_forward(block, f.weights, 1, {x.data() + 16, 64}, {y.data(), 50});
  for (int64_t j = 0; j < 50; ++j) {
    double sum = 0;
    for (int64_t k = 0; k < 40; ++k) {
      sum += static_cast<double>(x[static_cast<size_t>(16 + k)]) *
             f.params[static_cast<size_t>(whole.weight + (16 + k) * 96 + 32 + j)];
    }
    EXPECT_NEAR(y[static_cast<size_t>(j)], sum, 1e-5);
  }
}

}  // namespace
}  // namespace linnet
