// softmax_test.cpp -- softmax over rows, tile by tile, again and backward, against double.
#include "kernels/softmax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/context.h"
#include "tests/gradient_check.h"

namespace linnet {
namespace {

constexpr int64_t kRows = 5;
constexpr int64_t kWidths[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 257};
constexpr float kGuard = -99.5f;

// Scores of every scale; at 1e4 all but one probability is zero.
constexpr double kScales[] = {0, 0.25, 1, 4, 30, 1e4};

std::vector<float> scores(int64_t cols, double scale) {
  return random_floats(kRows * cols, 31, scale, scale > 100 ? -3e4 : 0);
}

struct Exact {
  std::vector<double> p, lse;
};

Exact softmax(const std::vector<float>& s, int64_t cols) {
  Exact e;
  for (auto row = s.begin(); row != s.end(); row += cols) {
    const double top = *std::max_element(row, row + cols);
    double sum = 0;
    for (auto x = row; x != row + cols; ++x) sum += std::exp(*x - top);
    for (auto x = row; x != row + cols; ++x) e.p.push_back(std::exp(*x - top) / sum);
    e.lse.push_back(top + std::log(sum));
  }
  return e;
}

// The sum of a row is rounded at every term, and score - maximum before exp: a relative error that
// grows with -log p. Below 1e-37 a float has only zero.
double allowed(double p, double steps) {
  return p > 1e-37 ? p * steps * (3e-6 - 1e-7 * std::log(p)) : 1e-37;
}

TEST(Softmax, RowsAreProbabilities) {
  Context context(1);
  for (const double scale : kScales) {
    for (const int64_t cols : kWidths) {
      const std::vector<float> s = scores(cols, scale);
      const Exact exact = softmax(s, cols);
      // Rows three apart, with guards between.
      const int64_t ld = cols + 3;
      std::vector<float> x(static_cast<size_t>(kRows * ld), kGuard);
      for (int64_t r = 0; r < kRows; ++r) {
        std::copy_n(s.begin() + r * cols, cols, x.begin() + r * ld);
      }
      softmax_rows(kRows, cols, {x.data(), ld});
      for (int64_t i = 0; i < kRows * ld; ++i) {
        const float got = x[static_cast<size_t>(i)];
        if (i % ld >= cols) {
          ASSERT_EQ(got, kGuard);
          continue;
        }
        const double p = exact.p[static_cast<size_t>(i / ld * cols + i % ld)];
        ASSERT_NEAR(got, p, allowed(p, 1)) << "scale " << scale << ", cols " << cols;
      }
    }
  }
}

// Tiles of any cut, as the softmax mixer runs them: m, l and the factors give the whole.
TEST(Softmax, TileByTileEqualsTheWhole) {
  Context context(1);
  for (const double scale : kScales) {
    for (const int64_t cols : kWidths) {
      for (const int64_t tile : {int64_t{1}, int64_t{5}, int64_t{16}, cols}) {
        const std::vector<float> s = scores(cols, scale);
        const Exact exact = softmax(s, cols);
        std::vector<float> x = s, m(kRows, -1e30f), l(kRows, 0.0f), factor(kRows);
        for (int64_t at = 0; at < cols; at += tile) {
          const int64_t n = std::min(tile, cols - at);
          softmax_tile(kRows, n, {x.data() + at, cols}, m.data(), l.data(), factor.data());
          for (int64_t r = 0; r < kRows; ++r) {
            EXPECT_TRUE(at > 0 || factor[static_cast<size_t>(r)] == 0);
            for (int64_t c = 0; c < at; ++c) {
              x[static_cast<size_t>(r * cols + c)] *= factor[static_cast<size_t>(r)];
            }
          }
        }
        for (size_t i = 0; i < x.size(); ++i) {
          const size_t r = i / static_cast<size_t>(cols);
          const auto row = s.begin() + static_cast<int64_t>(r) * cols;
          ASSERT_EQ(m[r], *std::max_element(row, row + cols));
          ASSERT_NEAR(x[i] / l[r], exact.p[i], allowed(exact.p[i], 2));
          ASSERT_NEAR(m[r] + std::log(l[r]), exact.lse[r], 1e-6 * (1 + std::abs(exact.lse[r])));
        }
      }
    }
  }
}

// The order of the tiles and what a tile holds beside a row do not touch its bits.
TEST(Softmax, RowsAreIndependentBitForBit) {
  Context context(1);
  const int64_t cols = 37;
  const std::vector<float> s = scores(cols, 2);
  std::vector<float> whole = s, alone = s, m(kRows, -1e30f), l(kRows), factor(kRows), m1 = m,
                     l1 = l;
  softmax_tile(kRows, cols, {whole.data(), cols}, m.data(), l.data(), factor.data());
  for (int64_t r = 0; r < kRows; ++r) {
    softmax_tile(1, cols, {alone.data() + r * cols, cols}, m1.data() + r, l1.data() + r,
                 factor.data());
  }
  EXPECT_EQ(alone, whole);
  EXPECT_EQ(l1, l);
  EXPECT_EQ(m1, m);
}

TEST(Softmax, MaskedScoresCountForNothing) {
  Context context(1);
  for (const int64_t cols : kWidths) {
    std::vector<float> s = scores(cols, 1), x;
    // Row r sees its first r + 1 columns, as in a causal triangle.
    for (int64_t i = 0; i < kRows * cols; ++i) {
      if (i % cols > i / cols) s[static_cast<size_t>(i)] = -1e30f;
    }
    x = s;
    std::vector<float> m(kRows, -1e30f), l(kRows), factor(kRows);
    softmax_tile(kRows, cols, {x.data(), cols}, m.data(), l.data(), factor.data());
    for (int64_t r = 0; r < kRows; ++r) {
      double sum = 0;
      for (int64_t c = 0; c < cols; ++c) {
        const float p = x[static_cast<size_t>(r * cols + c)];
        sum += p;
        EXPECT_TRUE(c <= r || p == 0) << r << ", " << c;
      }
      EXPECT_NEAR(l[static_cast<size_t>(r)], sum, 1e-6 * sum);
    }
  }
}

TEST(Softmax, AgainAndBackwardEqualTheirFormulas) {
  Context context(1);
  for (const double scale : {0.25, 1.0, 4.0}) {
    for (const int64_t cols : kWidths) {
      const std::vector<float> s = scores(cols, scale), dp = random_floats(kRows * cols, 32);
      const Exact exact = softmax(s, cols);
      const std::vector<float> lse(exact.lse.begin(), exact.lse.end());
      std::vector<float> p = s, ds = dp, delta;
      softmax_again(kRows, cols, {p.data(), cols}, lse.data());
      for (size_t i = 0; i < p.size(); ++i) {
        const double relative =
            4e-7 * (1 + std::abs(s[i]) + std::abs(lse[i / static_cast<size_t>(cols)]));
        ASSERT_NEAR(p[i], exact.p[i], relative * exact.p[i]);
      }
      for (size_t r = 0; r < kRows; ++r) {
        double sum = 0;
        for (size_t c = 0; c < static_cast<size_t>(cols); ++c) {
          const size_t i = r * static_cast<size_t>(cols) + c;
          sum += exact.p[i] * dp[i];
        }
        delta.push_back(static_cast<float>(sum));
      }
      softmax_backward(kRows, cols, {p.data(), cols}, delta.data(), {ds.data(), cols});
      for (size_t i = 0; i < ds.size(); ++i) {
        const double shift = delta[i / static_cast<size_t>(cols)];
        ASSERT_NEAR(ds[i], p[i] * (dp[i] - shift), 1e-6 * p[i] * (1 + std::abs(shift)));
      }
    }
  }
}

}  // namespace
}  // namespace linnet
