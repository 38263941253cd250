// activations_test.cpp -- elementwise functions against double; dropout's masks.
#include "kernels/activations.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/context.h"
#include "tests/gradient_check.h"

namespace linnet {
namespace {

using Function = double (*)(double);

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

constexpr double kA = 1.5957691216057308, kB = 0.044715 * kA;  // 2 sqrt(2 / pi)
double gelu_inner(double x) { return x * (kA + kB * x * x); }
double gelu(double x) { return x * sigmoid(gelu_inner(x)); }
double gelu_derivative(double x) {
  const double s = sigmoid(gelu_inner(x)), rest = sigmoid(-gelu_inner(x));
  // Far out the product is 0 * inf; the derivative is a step there.
  return std::abs(x) > 30 ? s : s + x * s * rest * (kA + 3 * kB * x * x);
}
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double sigmoid_derivative(double x) { return sigmoid(x) * sigmoid(-x); }
double elu1(double x) { return x > 0 ? x + 1 : std::exp(x); }
double elu1_derivative(double x) { return x > 0 ? 1 : std::exp(x); }

// How far a result may be from `exact` at x.
struct Bound {
  double relative, absolute;
  // The function holds exp(c(x)), and c is rounded to a float: a relative error of eps |c|.
  Function exponent = nullptr;
  double at(double x, double exact) const {
    const double growth = exponent ? 1 + std::min(std::abs(exponent(x)), 100.0) : 1;
    return relative * growth * std::abs(exact) + absolute;
  }
};

struct Activation {
  std::string name;
  void (*forward)(int64_t, int64_t, ConstMat, Mat) noexcept;
  // dx from what the kernel keeps: the input or the output.
  std::function<void(int64_t, int64_t, ConstMat x, ConstMat y, ConstMat dy, Mat dx)> backward;
  Function value, derivative;
  Bound value_bound, derivative_bound;
};

// 3e-38: below it floats are denormal, which the context flushes to zero.
const Activation kActivations[] = {
    {"gelu", gelu_forward,
     [](int64_t r, int64_t c, ConstMat x, ConstMat, ConstMat dy, Mat dx) {
       gelu_backward(r, c, x, dy, {}, dx);
     },
     gelu, gelu_derivative, Bound{2e-7, 1e-36, gelu_inner},
     // The derivative crosses zero near -0.75, where its two terms cancel.
     Bound{3e-7, 3e-7, gelu_inner}},
    {"sigmoid", sigmoid_forward,
     [](int64_t r, int64_t c, ConstMat, ConstMat y, ConstMat dy, Mat dx) {
       sigmoid_backward(r, c, y, dy, dx);
     },
     // From the value: near 1 half an ulp of y is all that is left of 1 - y.
     sigmoid, sigmoid_derivative, Bound{3e-7, 3e-38}, Bound{4e-7, 1.5e-7}},
    {"softplus", softplus_forward,
     [](int64_t r, int64_t c, ConstMat, ConstMat y, ConstMat dy, Mat dx) {
       softplus_backward(r, c, y, dy, dx);
     },
     softplus, sigmoid, Bound{3e-7, 3e-38}, Bound{4e-7, 3e-38}},
    {"elu1", elu1_forward,
     [](int64_t r, int64_t c, ConstMat, ConstMat y, ConstMat dy, Mat dx) {
       elu1_backward(r, c, y, dy, dx);
     },
     elu1, elu1_derivative, Bound{1.5e-7, 3e-38}, Bound{1.5e-7, 3e-38}},
};

// Scales from 1e-12 to 1e6, a grid where the functions bend, and the places where exp is clamped.
std::vector<float> sweep() {
  std::vector<float> x = {0.0f,    1e-8f,    20.0f,    87.0f,    87.33654f, 87.4f,  88.0f,
                          88.376f, 88.3762f, 88.3763f, 88.72f,   88.73f,    100.0f, 1e4f,
                          0.25f,   0.2499f,  0.34657f, 0.34658f, 1.2e-38f};
  for (double v = 1e-12; v < 1e6; v *= 1.07) x.push_back(static_cast<float>(v));
  for (double v = 0; v < 110; v += 0.01) x.push_back(static_cast<float>(v));
  const size_t positive = x.size();
  for (size_t i = 0; i < positive; ++i) x.push_back(-x[i]);
  return x;
}

TEST(Activations, ValuesAndDerivativesAreThoseOfDouble) {
  Context context(1);
  const std::vector<float> x = sweep(), dy = random_floats(static_cast<int64_t>(x.size()), 3);
  const auto n = static_cast<int64_t>(x.size());
  for (const Activation& f : kActivations) {
    std::vector<float> y(x.size()), dx(x.size());
    f.forward(1, n, {x.data(), 0}, {y.data(), 0});
    f.backward(1, n, {x.data(), 0}, {y.data(), 0}, {dy.data(), 0}, {dx.data(), 0});
    for (size_t i = 0; i < x.size(); ++i) {
      const double exact = f.value(x[i]), slope = f.derivative(x[i]), g = dy[i];
      ASSERT_LE(std::abs(y[i] - exact), f.value_bound.at(x[i], exact)) << f.name << " at " << x[i];
      ASSERT_LE(std::abs(dx[i] - g * slope),
                std::abs(g) * f.derivative_bound.at(x[i], slope) + 3e-38)
          << f.name << "' at " << x[i];
    }
  }
}

TEST(Activations, HugeInputsStayFinite) {
  Context context(1);
  const std::vector<float> x = {1e6f, -1e6f, 1e12f, -1e12f, 1e20f, -1e20f, 3e38f, -3e38f};
  const std::vector<float> dy(x.size(), 1.0f);
  for (const Activation& f : kActivations) {
    std::vector<float> y(x.size()), dx(x.size());
    f.forward(1, 8, {x.data(), 0}, {y.data(), 0});
    f.backward(1, f.name == "gelu" ? 4 : 8, {x.data(), 0}, {y.data(), 0}, {dy.data(), 0},
               {dx.data(), 0});
    for (size_t i = 0; i < x.size(); ++i) {
      EXPECT_TRUE(std::isfinite(y[i]) && std::isfinite(dx[i])) << f.name << " at " << x[i];
    }
  }
}

// Vectors, tails and any alignment give the bits of an element alone, and write nothing else.
TEST(Activations, LengthAndPlaceDoNotMatter) {
  Context context(1);
  constexpr int64_t kLongest = 2 * 16 + 3, kRows = 3;
  constexpr float kGuard = -777.25f;
  for (const Activation& f : kActivations) {
    for (int64_t n = 0; n <= kLongest; ++n) {
      for (int64_t shift = 0; shift < 4; ++shift) {
        const int64_t ld = n + 2;
        const auto size = static_cast<size_t>(shift + kRows * ld + 1);
        const std::vector<float> x = random_floats(static_cast<int64_t>(size), 11, 4);
        const std::vector<float> dy = random_floats(static_cast<int64_t>(size), 12);
        std::vector<float> y(size, kGuard), dx(size, kGuard), y1(size, kGuard), dx1(size, kGuard);
        const auto in = [&](const std::vector<float>& v) { return ConstMat(v.data() + shift, ld); };
        const auto out = [&](std::vector<float>& v) { return Mat{v.data() + shift, ld}; };
        f.forward(kRows, n, in(x), out(y));
        f.backward(kRows, n, in(x), in(y), in(dy), out(dx));
        for (int64_t r = 0; r < kRows; ++r) {
          for (int64_t c = 0; c < n; ++c) {
            const auto one = [&](auto m) { return m.rows(r).columns(c); };
            f.forward(1, 1, one(in(x)), one(out(y1)));
            f.backward(1, 1, one(in(x)), one(in(y1)), one(in(dy)), one(out(dx1)));
          }
        }
        ASSERT_EQ(y, y1) << f.name << " n=" << n << " shift=" << shift;
        ASSERT_EQ(dx, dx1) << f.name << " n=" << n << " shift=" << shift;
      }
    }
  }
}

TEST(Activations, WorkInPlaceAndGeluGivesItsValueAgain) {
  Context context(1);
  const std::vector<float> x = random_floats(37, 21, 3), dy = random_floats(37, 22);
  for (const Activation& f : kActivations) {
    std::vector<float> y(37), dx(37), y_in_place = x, dx_in_place = dy;
    f.forward(1, 37, {x.data(), 0}, {y.data(), 0});
    f.backward(1, 37, {x.data(), 0}, {y.data(), 0}, {dy.data(), 0}, {dx.data(), 0});
    f.forward(1, 37, {y_in_place.data(), 0}, {y_in_place.data(), 0});
    f.backward(1, 37, {x.data(), 0}, {y.data(), 0}, {dx_in_place.data(), 0},
               {dx_in_place.data(), 0});
    EXPECT_EQ(y_in_place, y) << f.name;
    EXPECT_EQ(dx_in_place, dx) << f.name;
  }
  std::vector<float> y(37), again(37), dx(37);
  gelu_forward(1, 37, {x.data(), 0}, {y.data(), 0});
  gelu_backward(1, 37, {x.data(), 0}, {dy.data(), 0}, {again.data(), 0}, {dx.data(), 0});
  EXPECT_EQ(again, y);
}

// What dropout makes of ones.
std::vector<float> mask(int64_t rows, int64_t cols, float rate, uint64_t key,
                        int64_t first_row = 0) {
  std::vector<float> x(static_cast<size_t>(rows * cols), 1.0f);
  dropout(rows, cols, {x.data(), cols}, rate, key, first_row);
  return x;
}

TEST(Dropout, KeepsTheRightShareAndScalesIt) {
  Context context(1);
  for (const float rate : {0.0f, 0.1f, 0.5f, 0.9f}) {
    constexpr int64_t kRows = 300, kCols = 333;
    std::vector<float> x = random_floats(kRows * kCols, 4);
    const std::vector<float> before = x;
    dropout(kRows, kCols, {x.data(), kCols}, rate, 42, 0);
    const float scale = 1.0f / (1.0f - rate);
    int64_t kept = 0;
    std::vector<int64_t> kept_in_column(kCols);
    for (size_t i = 0; i < x.size(); ++i) {
      if (x[i] == 0) continue;
      ASSERT_EQ(x[i], before[i] * scale);
      ++kept;
      ++kept_in_column[i % kCols];
    }
    const double n = kRows * kCols, share = 1.0 - static_cast<double>(rate);
    const double deviation = std::sqrt(share * (1 - share));
    EXPECT_NEAR(static_cast<double>(kept) / n, share, 4 * deviation / std::sqrt(n) + 1e-9);
    for (const int64_t count : kept_in_column) {
      EXPECT_NEAR(static_cast<double>(count) / kRows, share,
                  5 * deviation / std::sqrt(kRows) + 1e-9);
    }
  }
}

TEST(Dropout, DependsOnKeyRowAndColumnAlone) {
  Context context(1);
  const std::vector<float> whole = mask(10, 37, 0.5f, 9);
  EXPECT_EQ(mask(10, 37, 0.5f, 9), whole);
  std::vector<float> parts = mask(5, 37, 0.5f, 9);
  const std::vector<float> second = mask(5, 37, 0.5f, 9, 5);
  parts.insert(parts.end(), second.begin(), second.end());
  EXPECT_EQ(parts, whole);
  // Fewer columns: the same mask, cut.
  const std::vector<float> narrow = mask(10, 13, 0.5f, 9);
  for (size_t i = 0; i < narrow.size(); ++i) EXPECT_EQ(narrow[i], whole[i / 13 * 37 + i % 13]);
}

TEST(Dropout, OtherKeysAndRowsAreIndependent) {
  Context context(1);
  const std::vector<float> base = mask(64, 64, 0.5f, 1000);
  const auto agreement = [&](const std::vector<float>& other) {
    double same = 0;
    for (size_t i = 0; i < base.size(); ++i) same += base[i] == other[i];
    return same / static_cast<double>(base.size());
  };
  // Half agrees by chance, +- 4 deviations. Keys of neighbouring sites, and rows moved by one.
  for (const uint64_t key : {1001u, 1002u, 1016u, 1256u, 66536u, 0u}) {
    EXPECT_NEAR(agreement(mask(64, 64, 0.5f, key)), 0.5, 4 * 0.5 / 64) << key;
  }
  EXPECT_NEAR(agreement(mask(64, 64, 0.5f, 1000, 1)), 0.5, 4 * 0.5 / 64);
  EXPECT_NEAR(agreement(mask(64, 64, 0.5f, 1000, 1 << 20)), 0.5, 4 * 0.5 / 64);
}

// A run resumed on another CPU must drop the same units: the hash of a mask, equal on every target.
TEST(Dropout, MaskIsTheSameOnEveryTarget) {
  Context context(1);
  uint64_t hash = 0xCBF29CE484222325u;
  for (const float value : mask(5, 37, 0.3f, 0x123456789ABCDEFu, 3)) {
    hash = (hash ^ std::bit_cast<uint32_t>(value)) * 0x100000001B3u;
  }
  EXPECT_EQ(hash, 497038644801975103u);
}

}  // namespace
}  // namespace linnet
