// gemm_test.cpp -- matrix products against a loop in double, and what a batch must not change.
#include "kernels/gemm.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "core/context.h"
#include "tests/gradient_check.h"

namespace linnet {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kGuard = -12345.5f;

struct Sizes {
  int64_t M, N, K;
};

enum class Right { plain, packed, pack_transposed };
constexpr Right kRights[] = {Right::plain, Right::packed, Right::pack_transposed};

// Operands in every form, each in a buffer of its exact size: a sanitizer sees a read beyond.
struct Operands {
  Sizes size;
  std::vector<float> a, a_transposed, b, bias, panels, panels_of_transposed;

  Operands(Sizes s, uint64_t seed) : size(s) {
    a = random_floats(s.M * s.K, seed);
    b = random_floats(s.K * s.N, seed + 1);
    bias = random_floats(s.N, seed + 2);
    a_transposed = transposed(a, s.M, s.K);
    const std::vector<float> bt = transposed(b, s.K, s.N);
    // Packing must write every float, the padding too.
    panels.assign(static_cast<size_t>(packed_floats(s.K, s.N)), kNan);
    panels_of_transposed = panels;
    pack(s.K, s.N, b.data(), s.N, panels.data());
    pack_transposed(s.K, s.N, bt.data(), s.K, panels_of_transposed.data());
  }

  static std::vector<float> transposed(const std::vector<float>& x, int64_t rows, int64_t cols) {
    std::vector<float> y(x.size());
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < cols; ++c) {
        y[static_cast<size_t>(c * rows + r)] = x[static_cast<size_t>(r * cols + c)];
      }
    }
    return y;
  }

  // Rows from `row` on.
  GemmA left(bool columns, int64_t row = 0) const {
    if (columns) return columns_of(a_transposed.data() + row, size.M);
    return rows_of(a.data() + row * size.K, size.K);
  }
  GemmB right(Right form) const {
    if (form == Right::plain) return plain(b.data(), size.N);
    return packed((form == Right::packed ? panels : panels_of_transposed).data(), size.K);
  }
};

// C [M, ldc] before the call: NaN where it must not be read, the guard right of it.
std::vector<float> fresh(Sizes s, int64_t ldc, bool accumulate) {
  std::vector<float> c(static_cast<size_t>(s.M * ldc), kGuard);
  const std::vector<float> start = random_floats(s.M * s.N, 99);
  for (int64_t i = 0; i < s.M * s.N; ++i) {
    c[static_cast<size_t>(i / s.N * ldc + i % s.N)] =
        accumulate ? start[static_cast<size_t>(i)] : kNan;
  }
  return c;
}

std::vector<float> product(const Operands& o, bool columns, Right form, int64_t ldc, bool biased,
                           bool accumulate) {
  std::vector<float> c = fresh(o.size, ldc, accumulate);
  gemm(o.size.M, o.size.N, o.size.K, o.left(columns), o.right(form), c.data(), ldc,
       biased ? o.bias.data() : nullptr, accumulate);
  return c;
}

// The sum in double, and the sum of magnitudes that its rounding errors are a part of.
struct Expected {
  std::vector<double> value, magnitude;
};

Expected expected_product(const Operands& o, bool biased, bool accumulate) {
  const auto [M, N, K] = o.size;
  Expected e;
  e.value.assign(static_cast<size_t>(M * N), 0.0);
  e.magnitude = e.value;
  const std::vector<float> start = random_floats(M * N, 99);
  for (int64_t i = 0; i < M; ++i) {
    double *value = e.value.data() + i * N, *magnitude = e.magnitude.data() + i * N;
    for (int64_t k = 0; k < K; ++k) {
      const double x = o.a[static_cast<size_t>(i * K + k)];
      const float* row = o.b.data() + k * N;
      for (int64_t j = 0; j < N; ++j) {
        value[j] += x * row[j];
        magnitude[j] += std::abs(x * row[j]);
      }
    }
    for (int64_t j = 0; j < N; ++j) {
      const double first = biased ? o.bias[static_cast<size_t>(j)] : 0.0;
      const double second = accumulate ? start[static_cast<size_t>(i * N + j)] : 0.0;
      value[j] += first + second;
      magnitude[j] += std::abs(first) + std::abs(second);
    }
  }
  return e;
}

void expect_product(const Operands& o, const Expected& e, const std::vector<float>& c,
                    int64_t ldc) {
  const auto [M, N, K] = o.size;
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < ldc; ++j) {
      const float got = c[static_cast<size_t>(i * ldc + j)];
      if (j >= N) {
        ASSERT_EQ(got, kGuard) << "written right of C at " << i << ", " << j;
        continue;
      }
      const size_t at = static_cast<size_t>(i * N + j);
      const double allowed = static_cast<double>(K + 4) * 6e-8 * e.magnitude[at];
      ASSERT_LE(std::abs(got - e.value[at]), allowed) << "row " << i << ", column " << j;
    }
  }
}

constexpr int64_t kEdges[] = {1, 2, 3, 5, 6, 7, 11, 12, 13, 16, 17, 31, 64, 100, 129};
constexpr int64_t kDepths[] = {0,  1,  2,  3,  5,   6,   7,   11,  12,  13,
                               16, 17, 31, 64, 100, 129, 255, 256, 257, 600};

TEST(Gemm, EqualsTheLoopForAllFormsAndSizes) {
  Context context(1);
  int turn = 0;
  for (const int64_t M : kEdges) {
    for (const int64_t N : kEdges) {
      for (const int64_t K : kDepths) {
        // Every pair of sizes and every depth with each of them in a fifth of the cases; 20 and 5
        // share a factor, so the edges shift which.
        if (++turn % 5 != (M + N) % 5) continue;
        const bool biased = turn % 2 == 0, accumulate = turn % 3 == 0;
        const Operands o({M, N, K}, static_cast<uint64_t>(turn));
        const Expected e = expected_product(o, biased, accumulate);
        for (const Right form : kRights) {
          for (const bool columns : {false, true}) {
            SCOPED_TRACE(testing::Message() << "M=" << M << " N=" << N << " K=" << K << " columns="
                                            << columns << " form=" << static_cast<int>(form)
                                            << " bias=" << biased << " add=" << accumulate);
            const int64_t ldc = N + (columns ? 3 : 16);
            expect_product(o, e, product(o, columns, form, ldc, biased, accumulate), ldc);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST(Gemm, BiasAndAccumulateInAllCombinations) {
  Context context(1);
  for (const Sizes size : {Sizes{7, 21, 300}, Sizes{13, 32, 0}, Sizes{2, 5, 1}, Sizes{70, 33, 256},
                           Sizes{67, 8, 257}, Sizes{25, 28, 9}}) {
    const Operands o(size, 5);
    for (int options = 0; options < 24; ++options) {
      const bool biased = options & 1, accumulate = options & 2, columns = options & 4;
      const Expected e = expected_product(o, biased, accumulate);
      const int64_t ldc = size.N + 1;
      expect_product(o, e, product(o, columns, kRights[options / 8], ldc, biased, accumulate), ldc);
      ASSERT_FALSE(HasFatalFailure()) << "options " << options << ", K " << size.K;
    }
  }
}

// Bit for bit: every form, and every row computed alone.
TEST(Gemm, FormsAndRowsAloneGiveTheSameBits) {
  Context context(1);
  for (const int64_t M : {1, 2, 5, 6, 7, 11, 12, 13, 23, 25, 64, 65, 129}) {
    for (const Sizes size : {Sizes{M, 2, 31}, Sizes{M, 8, 31}, Sizes{M, 12, 300}, Sizes{M, 16, 31},
                             Sizes{M, 21, 257}, Sizes{M, 48, 600}}) {
      const Operands o(size, static_cast<uint64_t>(M));
      for (const bool accumulate : {false, true}) {
        const std::vector<float> whole = product(o, false, Right::plain, size.N, true, accumulate);
        for (const Right form : kRights) {
          for (const bool columns : {false, true}) {
            ASSERT_EQ(product(o, columns, form, size.N, true, accumulate), whole)
                << "M=" << M << " N=" << size.N << " columns=" << columns;
            std::vector<float> alone = fresh(size, size.N, accumulate);
            for (int64_t i = 0; i < M; ++i) {
              gemm(1, size.N, size.K, o.left(columns, i), o.right(form), alone.data() + i * size.N,
                   size.N, o.bias.data(), accumulate);
            }
            ASSERT_EQ(alone, whole) << "row by row, M=" << M << " N=" << size.N;
          }
        }
      }
    }
  }
}

TEST(Gemm, PanelsAreSixteenColumnsWidePaddedWithZeros) {
  const Operands o({1, 21, 3}, 8);
  EXPECT_EQ(packed_floats(3, 21), 2 * 16 * 3);
  EXPECT_EQ(o.panels, o.panels_of_transposed);
  for (int64_t j = 0; j < 32; ++j) {
    for (int64_t k = 0; k < 3; ++k) {
      const float expected = j < 21 ? o.b[static_cast<size_t>(k * 21 + j)] : 0.0f;
      EXPECT_EQ(o.panels[static_cast<size_t>(j / 16 * 48 + k * 16 + j % 16)], expected);
    }
  }
}

TEST(Gemm, RunsOnTheTargetThatWasAskedFor) {
  Context context(1);
  EXPECT_GT(peak_flops(0.01), 1e6);
  const char* wish = std::getenv("LINNET_TARGET");
  if (wish == nullptr || *wish == '\0') return;
  std::string target = Context::target();
  for (char& c : target) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  EXPECT_EQ(target, wish);
}

}  // namespace
}  // namespace linnet
