// params_test.cpp -- the layout of the parameter block, its initial values and its packed copies.
#include "layers/params.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/gemm.h"
#include "tests/gradient_check.h"

namespace linnet {
namespace {

ParamLayout sample_layout(int64_t first_size) {
  ParamLayout layout;
  layout.add("embedding", {first_size, 7}, Init::normal, 0.02f, false);
  layout.add("weight", {30, 20}, Init::xavier, 1.0f, true);
  layout.add("norm", {20}, Init::ones, 0.0f, false);
  layout.add("bias", {20}, Init::zeros, 0.0f, false);
  layout.add("heads", {4, 24, 40}, Init::xavier, 0.5f, true);
  layout.add("scale", {1}, Init::ones, 0.0f, false);
  return layout;
}

std::vector<float> initial(const ParamLayout& layout, uint64_t seed) {
  std::vector<float> params(static_cast<size_t>(layout.floats()), -5.0f);
  layout.initialise(seed, params.data());
  return params;
}

std::vector<float> values(const ParamLayout& layout, const std::vector<float>& params, size_t i) {
  const ParamSpec& spec = layout.specs()[i];
  return {params.begin() + spec.offset, params.begin() + spec.offset + spec.size()};
}

TEST(ParamLayout, OffsetsAreAlignedAndApart) {
  const ParamLayout layout = sample_layout(11);
  int64_t end = 0, count = 0;
  for (const ParamSpec& spec : layout.specs()) {
    EXPECT_EQ(spec.offset % kAlignFloats, 0) << spec.name;
    EXPECT_GE(spec.offset, end) << spec.name;
    end = spec.offset + spec.size();
    count += spec.size();
  }
  EXPECT_GE(layout.floats(), end);
  EXPECT_EQ(layout.parameters(), count);
  EXPECT_EQ(layout.parameters(), 11 * 7 + 30 * 20 + 20 + 20 + 4 * 24 * 40 + 1);
  EXPECT_EQ(layout.specs()[4].name, "heads");
  EXPECT_TRUE(layout.specs()[4].decay);
  EXPECT_FALSE(layout.specs()[2].decay);
  EXPECT_EQ(ParamLayout().floats(), 0);
  EXPECT_EQ(ParamLayout().parameters(), 0);
}

TEST(ParamLayout, SparseTablesAreATail) {
  ParamLayout layout = sample_layout(11);
  const int64_t dense = layout.floats(), count = layout.parameters();
  EXPECT_EQ(layout.dense_floats(), dense);
  const int64_t offset = layout.add_sparse("table", {9, 7});
  EXPECT_EQ(offset, dense);
  EXPECT_EQ(layout.dense_floats(), dense);
  EXPECT_GE(layout.floats(), dense + 9 * 7);
  EXPECT_EQ(layout.parameters(), count + 9 * 7);
  EXPECT_TRUE(layout.specs().back().sparse);
  EXPECT_EQ(values(layout, initial(layout, 3), layout.specs().size() - 1),
            std::vector<float>(9 * 7));
}

TEST(ParamLayout, InitialValuesDependOnSeedAndNumberAlone) {
  const ParamLayout small = sample_layout(11), large = sample_layout(500);
  const std::vector<float> params = initial(small, 3);
  EXPECT_EQ(initial(small, 3), params);
  EXPECT_NE(initial(small, 4), params);
  const std::vector<float> other = initial(large, 3);
  for (size_t i = 1; i < small.specs().size(); ++i) {
    EXPECT_EQ(values(large, other, i), values(small, params, i)) << small.specs()[i].name;
  }
  // Two parameters of the same kind are not copies of each other.
  ParamLayout twins;
  twins.add("a", {8, 8}, Init::xavier, 1.0f, true);
  twins.add("b", {8, 8}, Init::xavier, 1.0f, true);
  const std::vector<float> pair = initial(twins, 3);
  EXPECT_NE(values(twins, pair, 0), values(twins, pair, 1));
}

TEST(ParamLayout, GapsBetweenParametersAreNotWritten) {
  const ParamLayout layout = sample_layout(11);
  const std::vector<float> params = initial(layout, 3);
  int64_t gaps = 0;
  for (const float value : params) gaps += value == -5.0f;
  EXPECT_EQ(gaps, layout.floats() - layout.parameters());
}

TEST(ParamLayout, InitialValuesHaveTheirDistribution) {
  const ParamLayout layout = sample_layout(3000);
  const std::vector<float> params = initial(layout, 9);
  const auto moments = [&](size_t i) {
    double sum = 0, squares = 0, largest = 0;
    const std::vector<float> x = values(layout, params, i);
    for (const double v : x) sum += v, squares += v * v, largest = std::max(largest, std::abs(v));
    const auto n = static_cast<double>(x.size());
    return std::array<double, 3>{sum / n, std::sqrt(squares / n), largest};
  };
  EXPECT_NEAR(moments(0)[0], 0, 4 * 0.02 / std::sqrt(21000));
  EXPECT_NEAR(moments(0)[1], 0.02, 0.02 * 0.03);
  // Xavier: uniform within gain sqrt(6 / (in + out)) of the last two dimensions.
  const double limits[] = {std::sqrt(6.0 / 50), 0.5 * std::sqrt(6.0 / 64)};
  for (const size_t i : {1u, 4u}) {
    const double limit = limits[i == 4];
    const auto [mean, deviation, largest] = moments(i);
    EXPECT_NEAR(mean, 0, 4 * limit / std::sqrt(3.0 * 600));
    EXPECT_NEAR(deviation, limit / std::sqrt(3), 0.05 * limit);
    EXPECT_LE(largest, limit * 1.0000001);
    EXPECT_GT(largest, limit * 0.98);
  }
  for (const float v : values(layout, params, 2)) EXPECT_EQ(v, 1.0f);
  for (const float v : values(layout, params, 3)) EXPECT_EQ(v, 0.0f);
}

TEST(ParamLayout, PackedCopiesHoldEveryMatrix) {
  Context context(1), threads(3);
  ParamLayout layout;
  std::vector<Matrix> matrices;
  for (const auto& [in, out] : {std::pair<int64_t, int64_t>{5, 40}, {40, 5}, {16, 16}, {33, 17}}) {
    const int64_t weight = layout.add("w", {in, out}, Init::xavier, 1.0f, true);
    matrices.push_back(layout.matrix(weight, in, out));
  }
  const std::vector<float> params = initial(layout, 5);
  const auto size = static_cast<size_t>(layout.packed_floats());
  std::vector<float> panels(size), transposed(size), panels3(size), transposed3(size), alone(size);
  layout.pack(context, params.data(), panels.data(), transposed.data());
  layout.pack(threads, params.data(), panels3.data(), transposed3.data());
  layout.pack(context, params.data(), alone.data(), nullptr);
  EXPECT_EQ(panels3, panels);
  EXPECT_EQ(transposed3, transposed);
  EXPECT_EQ(alone, panels);
  for (const Matrix& m : matrices) {
    for (int64_t r = 0; r < m.in; ++r) {
      for (int64_t c = 0; c < m.out; ++c) {
        const float w = params[static_cast<size_t>(m.weight + r * m.out + c)];
        const auto element = [](int64_t start, int64_t depth, int64_t k, int64_t j) {
          return static_cast<size_t>(start + j / kPanel * kPanel * depth + k * kPanel + j % kPanel);
        };
        ASSERT_EQ(panels[element(m.packed, m.in, r, c)], w);
        ASSERT_EQ(transposed[element(m.packed_transposed, m.out, c, r)], w);
      }
    }
  }
}

}  // namespace
}  // namespace linnet
