// rows_test.cpp -- sums, scalings and LayerNorm over rows against double, at odd sizes.
#include "kernels/rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/context.h"
#include "tests/gradient_check.h"

namespace linnet {
namespace {

constexpr int64_t kWidths[] = {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 256, 301};
constexpr float kGuard = 4321.5f;

// A matrix whose rows are further apart than they are wide; the gap must stay as it is.
struct Gapped {
  int64_t rows, cols, ld;
  std::vector<float> data;

  Gapped(int64_t r, int64_t c, uint64_t seed, double scale = 1, double offset = 0)
      : rows(r), cols(c), ld(c + 3), data(random_floats(r * (c + 3), seed, scale, offset)) {
    for (int64_t i = 0; i < r; ++i) std::fill_n(data.begin() + i * ld + cols, 3, kGuard);
  }
  operator ConstMat() const { return {data.data(), ld}; }
  Mat mat() { return {data.data(), ld}; }
  double at(int64_t r, int64_t c) const { return data[static_cast<size_t>(r * ld + c)]; }
  bool gaps_untouched() const {
    for (int64_t i = 0; i < rows * ld; ++i) {
      if (i % ld >= cols && data[static_cast<size_t>(i)] != kGuard) return false;
    }
    return true;
  }
};

// Sums of n terms of this magnitude may differ by so much.
double rounding(int64_t n, double magnitude) {
  return 1.2e-7 * static_cast<double>(n + 2) * magnitude;
}

TEST(Rows, VectorsAreAddedAndScaled) {
  Context context(1);
  for (int64_t n = 0; n <= 70; ++n) {
    const auto size = static_cast<size_t>(n);
    std::vector<float> x = random_floats(n + 1, 1), y = random_floats(n + 1, 2);
    x[size] = y[size] = kGuard;
    std::vector<float> sum = y, scaled_sum = y, scaled = y, moved = y, still = x;
    add(n, x.data(), sum.data());
    add_scaled(n, -2.5f, x.data(), scaled_sum.data());
    scale(n, 3.0f, scaled.data());
    approach(n, 0.125f, x.data(), moved.data());
    approach(n, 0.1f, x.data(), still.data());
    for (size_t i = 0; i < size; ++i) {
      EXPECT_EQ(sum[i], y[i] + x[i]);
      EXPECT_NEAR(scaled_sum[i], static_cast<double>(y[i]) - 2.5 * x[i], 2e-6);
      EXPECT_EQ(scaled[i], y[i] * 3.0f);
      EXPECT_NEAR(moved[i], 0.875 * y[i] + 0.125 * x[i], 1e-6);
      EXPECT_EQ(still[i], x[i]);
    }
    EXPECT_TRUE(sum[size] == kGuard && scaled_sum[size] == kGuard && scaled[size] == kGuard);
    EXPECT_EQ(moved[size], kGuard);
  }
}

TEST(Rows, SumOfSquaresIsThatOfDouble) {
  Context context(1);
  for (const int64_t n : {0, 1, 7, 255, 256, 257, 1000, 100003}) {
    const std::vector<float> x = random_floats(n, 3, 2, 1);
    double exact = 0;
    for (const float v : x) exact += static_cast<double>(v) * v;
    EXPECT_NEAR(sum_of_squares(n, x.data()), exact, 1e-6 * exact) << n;
  }
}

TEST(Rows, MatricesAreAddedCopiedAndScaledRowByRow) {
  Context context(1);
  for (const int64_t cols : kWidths) {
    for (const int64_t rows : {0, 1, 2, 7, 40}) {
      const Gapped x(rows, cols, 4), y(rows, cols, 5);
      const std::vector<float> factor = random_floats(rows, 6), line = random_floats(cols, 7);
      Gapped sum = y, copy = y, outer = y, scaled = y, in_place = x;
      add_rows(rows, cols, x, sum.mat());
      copy_rows(rows, cols, x, copy.mat());
      add_outer(rows, cols, factor.data(), line.data(), outer.mat());
      scale_rows(rows, cols, x, factor.data(), scaled.mat());
      scale_rows(rows, cols, in_place, factor.data(), in_place.mat());
      for (int64_t r = 0; r < rows; ++r) {
        const double f = factor[static_cast<size_t>(r)];
        for (int64_t c = 0; c < cols; ++c) {
          ASSERT_NEAR(sum.at(r, c), y.at(r, c) + x.at(r, c), 1e-6);
          ASSERT_EQ(copy.at(r, c), x.at(r, c));
          ASSERT_NEAR(outer.at(r, c), y.at(r, c) + f * line[static_cast<size_t>(c)], 2e-6);
          ASSERT_NEAR(scaled.at(r, c), f * x.at(r, c), 1e-6);
        }
      }
      EXPECT_EQ(in_place.data, scaled.data);
      EXPECT_TRUE(sum.gaps_untouched() && copy.gaps_untouched() && outer.gaps_untouched() &&
                  scaled.gaps_untouched());
    }
  }
}

TEST(Rows, SumsOverRowsAndDotsAreThoseOfDouble) {
  Context context(1);
  for (const int64_t cols : kWidths) {
    for (const int64_t rows : {0, 1, 3, 40, 129}) {
      const Gapped x(rows, cols, 8), y(rows, cols, 9);
      const std::vector<float> weight = random_floats(rows, 10), line = random_floats(cols, 11);
      std::vector<float> sums = line, weighted = line, dots(weight.size()), one(weight.size());
      add_column_sums(rows, cols, x, sums.data());
      add_weighted_rows(rows, cols, weight.data(), x, weighted.data());
      row_dots(rows, cols, x, y, dots.data());
      row_dots(rows, cols, x, {line.data(), 0}, one.data());
      for (int64_t c = 0; c < cols; ++c) {
        double sum = line[static_cast<size_t>(c)], weighted_sum = sum;
        for (int64_t r = 0; r < rows; ++r) {
          sum += x.at(r, c);
          weighted_sum += weight[static_cast<size_t>(r)] * x.at(r, c);
        }
        ASSERT_NEAR(sums[static_cast<size_t>(c)], sum, rounding(rows, 3));
        ASSERT_NEAR(weighted[static_cast<size_t>(c)], weighted_sum, rounding(rows, 4));
      }
      for (int64_t r = 0; r < rows; ++r) {
        double dot = 0, dot_line = 0;
        for (int64_t c = 0; c < cols; ++c) {
          dot += x.at(r, c) * y.at(r, c);
          dot_line += x.at(r, c) * line[static_cast<size_t>(c)];
        }
        ASSERT_NEAR(dots[static_cast<size_t>(r)], dot, rounding(cols, 4));
        ASSERT_NEAR(one[static_cast<size_t>(r)], dot_line, rounding(cols, 4));
      }
    }
  }
}

TEST(Rows, TheFirstLargestOfAColumnGetsItsGradient) {
  Context context(1);
  for (const int64_t cols : kWidths) {
    for (const int64_t rows : {1, 2, 40}) {
      Gapped x(rows, cols, 12, 1, -2);
      const Gapped before(rows, cols, 13);
      for (int64_t c = 0; c < cols; c += 3) x.mat().row(rows - 1)[c] = x.mat().row(0)[c];  // ties
      Gapped dx = before;
      const std::vector<float> dy = random_floats(cols, 14);
      std::vector<float> largest(static_cast<size_t>(cols));
      column_max(rows, cols, x, largest.data());
      column_max_backward(rows, cols, x, largest.data(), dy.data(), dx.mat());
      for (int64_t c = 0; c < cols; ++c) {
        int64_t first = 0;
        for (int64_t r = 1; r < rows; ++r) first = x.at(r, c) > x.at(first, c) ? r : first;
        ASSERT_EQ(largest[static_cast<size_t>(c)], x.at(first, c));
        for (int64_t r = 0; r < rows; ++r) {
          const double own = r == first ? dy[static_cast<size_t>(c)] : 0;
          ASSERT_NEAR(dx.at(r, c), before.at(r, c) + own, 1e-6) << r << " " << c;
        }
      }
      EXPECT_TRUE(dx.gaps_untouched());
    }
  }
}

// Flat input x [rows, cols], weight [cols], bias [cols] to y [rows, cols].
std::vector<Complex> layer_norm(const std::vector<Complex>& in, int64_t rows, int64_t cols,
                                double eps) {
  const auto width = static_cast<size_t>(cols), all = static_cast<size_t>(rows * cols);
  const double n = static_cast<double>(cols);
  std::vector<Complex> y(all);
  for (size_t first = 0; first < all; first += width) {
    Complex mean = 0, variance = 0;
    for (size_t c = 0; c < width; ++c) mean += in[first + c] / n;
    for (size_t c = 0; c < width; ++c) {
      variance += (in[first + c] - mean) * (in[first + c] - mean) / n;
    }
    const Complex rstd = 1.0 / std::sqrt(variance + eps);
    for (size_t c = 0; c < width; ++c) {
      y[first + c] = (in[first + c] - mean) * rstd * in[all + c] + in[all + width + c];
    }
  }
  return y;
}

struct Spread {
  double mean, deviation;
};

constexpr Spread kSpreads[] = {{0, 1},    {0, 0.25},   {0, 4},   {1, 1},
                               {-100, 1}, {100, 1e-2}, {0, 1e-4}};

// x - mean loses the digits that both share: the error grows with mean / deviation, and 1e-7 times
// that is what floats can hold of such a row in the first place.
double condition(const Gapped& x, double eps) {
  double worst = 0;
  for (int64_t r = 0; r < x.rows; ++r) {
    double mean = 0, variance = 0;
    for (int64_t c = 0; c < x.cols; ++c) mean += x.at(r, c) / static_cast<double>(x.cols);
    for (int64_t c = 0; c < x.cols; ++c) variance += std::pow(x.at(r, c) - mean, 2);
    const double deviation = std::sqrt(variance / static_cast<double>(x.cols) + eps);
    worst = std::max(worst, std::abs(mean) / deviation);
  }
  return 1 + worst;
}

TEST(LayerNorm, ForwardEqualsTheDefinition) {
  Context context(1);
  for (const Spread& spread : kSpreads) {
    for (const int64_t cols : kWidths) {
      constexpr int64_t kRows = 4;
      const Gapped x(kRows, cols, 12, spread.deviation, spread.mean);
      const std::vector<float> weight = random_floats(cols, 13), bias = random_floats(cols, 14);
      Gapped y(kRows, cols, 15);
      layer_norm_forward(kRows, cols, x, weight.data(), bias.data(), 1e-6f, y.mat());
      std::vector<Complex> in;
      for (int64_t r = 0; r < kRows; ++r) append(in, x.data.data() + r * x.ld, cols);
      append(in, weight.data(), cols);
      append(in, bias.data(), cols);
      const std::vector<Complex> exact = layer_norm(in, kRows, cols, 1e-6f);
      EXPECT_TRUE(y.gaps_untouched());
      for (int64_t i = 0; i < kRows * cols; ++i) {
        ASSERT_NEAR(y.at(i / cols, i % cols), exact[static_cast<size_t>(i)].real(),
                    1e-6 * condition(x, 1e-6))
            << "mean " << spread.mean << ", sd " << spread.deviation << ", cols " << cols;
      }
    }
  }
}

TEST(LayerNorm, BackwardIsTheComplexStepDerivative) {
  Context context(1);
  for (const Spread& spread : kSpreads) {
    for (const int64_t cols : kWidths) {
      if (cols > 100) continue;
      constexpr int64_t kRows = 3;
      const Gapped x(kRows, cols, 16, spread.deviation, spread.mean), dy(kRows, cols, 17);
      const std::vector<float> weight = random_floats(cols, 18, 1, 1), bias(weight.size());
      Gapped dx(kRows, cols, 19);
      const Gapped dx_before = dx;
      std::vector<float> dweight = random_floats(cols, 20), dbias = random_floats(cols, 21);
      const std::vector<float> dweight_before = dweight, dbias_before = dbias;
      layer_norm_backward(kRows, cols, x, weight.data(), 1e-6f, dy, dx.mat(), dweight.data(),
                          dbias.data());
      EXPECT_TRUE(dx.gaps_untouched());
      // The kernel adds: what was there before is taken off again.
      std::vector<Complex> in;
      std::vector<float> gradient, dy_flat;
      for (int64_t r = 0; r < kRows; ++r) append(in, x.data.data() + r * x.ld, cols);
      append(in, weight.data(), cols);
      append(in, bias.data(), cols);
      for (int64_t i = 0; i < kRows * cols; ++i) {
        const int64_t r = i / cols, c = i % cols;
        gradient.push_back(static_cast<float>(dx.at(r, c) - dx_before.at(r, c)));
        dy_flat.push_back(static_cast<float>(dy.at(r, c)));
      }
      for (size_t c = 0; c < dweight.size(); ++c)
        gradient.push_back(dweight[c] - dweight_before[c]);
      for (size_t c = 0; c < dbias.size(); ++c) gradient.push_back(dbias[c] - dbias_before[c]);
      SCOPED_TRACE(testing::Message()
                   << "mean " << spread.mean << ", sd " << spread.deviation << ", cols " << cols);
      check_gradients(
          [&](const std::vector<Complex>& v) { return layer_norm(v, kRows, cols, 1e-6f); }, in,
          dy_flat,
          {{"x", 0, kRows * cols},
           {"weight", kRows * cols, cols},
           {"bias", (kRows + 1) * cols, cols}},
          gradient, {.relative = 3e-6 * condition(x, 1e-6), .floor = 2e-6 * condition(x, 1e-6)});
    }
  }
}

}  // namespace
}  // namespace linnet
