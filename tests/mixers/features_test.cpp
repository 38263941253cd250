// features_test.cpp -- every feature map: reference, gradients, positivity, folding.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "features/feature.h"
#include "tests/gradient_check.h"

namespace linnet {
namespace {

// A phi with parameters, run over vectors.
struct Driver {
  const Feature& kind;
  Context context{1};
  ParamLayout layout;
  FeaturePlan plan;
  std::vector<float> params, packed, packed_transposed;
  Weights weights;
  Arena scratch;

  // out = 0: the kind's own choice.
  Driver(const Feature& k, int64_t heads, int64_t in, int64_t out = 0) : kind(k) {
    plan.heads = heads;
    plan.in = in;
    plan.out = out;
    layout.add("before", {3}, Init::ones, 0.0f, false);
    kind.build(layout, "phi", plan);
    params.resize(static_cast<size_t>(layout.floats()));
    layout.initialise(1, params.data());
    packed.resize(static_cast<size_t>(layout.packed_floats()));
    packed_transposed = packed;
    layout.pack(context, params.data(), packed.data(), packed_transposed.data());
    weights = {params.data(), packed.data(), packed_transposed.data()};
  }

  int64_t in_width() const { return plan.heads * plan.in; }
  int64_t out_width() const { return plan.heads * plan.out; }

  std::vector<float> forward(const std::vector<float>& x) {
    const auto rows = static_cast<int64_t>(x.size()) / in_width();
    std::vector<float> phi(static_cast<size_t>(rows * out_width()), NAN);
    kind.forward(plan, weights, rows, {x.data(), in_width()}, {phi.data(), out_width()});
    return phi;
  }

  // dx, then the block of gradients.
  std::vector<float> backward(const std::vector<float>& x, const std::vector<float>& phi,
                              std::vector<float> dphi) {
    const auto rows = static_cast<int64_t>(x.size()) / in_width();
    std::vector<float> gradient(x.size() + params.size());
    std::fill_n(gradient.begin(), x.size(), NAN);
    kind.backward(plan, weights, rows, {x.data(), in_width()}, {phi.data(), out_width()},
                  {dphi.data(), out_width()}, {gradient.data(), in_width()},
                  gradient.data() + x.size(), scratch);
    return gradient;
  }

  // Flat input: x [rows, H*D], then the parameter block.
  std::vector<Complex> reference(const std::vector<Complex>& input, int64_t rows) const {
    std::vector<Complex> phi(static_cast<size_t>(rows * out_width()));
    for (int64_t i = 0; i < rows * plan.heads; ++i) {
      kind.reference(plan, input.data() + rows * in_width(), i % plan.heads,
                     input.data() + i * plan.in, phi.data() + i * plan.out);
    }
    return phi;
  }

  std::vector<Complex> input(const std::vector<float>& x) const {
    std::vector<Complex> all(x.begin(), x.end());
    append(all, params.data(), layout.floats());
    return all;
  }
};

struct Sizes {
  int64_t heads, in;
};
constexpr Sizes kSizes[] = {{1, 1}, {3, 5}, {2, 8}, {2, 24}, {1, 33}};

TEST(Features, RecordsAreComplete) {
  ASSERT_FALSE(features().empty());
  std::set<std::string_view> names;
  for (const Feature* kind : features()) {
    ASSERT_NE(kind, nullptr);
    EXPECT_FALSE(kind->name.empty() || kind->formula.empty() || kind->summary.empty())
        << kind->name;
    EXPECT_TRUE(names.insert(kind->name).second) << kind->name << " twice";
    EXPECT_EQ(&find_feature(kind->name), kind);
    EXPECT_TRUE(kind->build && kind->forward && kind->backward && kind->reference)
        << kind->name << " has a hole";
    EXPECT_EQ(kind->fold == nullptr, kind->activate == nullptr) << kind->name << ": both or none";
  }
  EXPECT_THROW(find_feature("no such phi"), Error);
}

TEST(Features, ForwardEqualsTheReferenceAndIsPositive) {
  for (const Feature* kind : features()) {
    for (const Sizes size : kSizes) {
      for (const double scale : {0.25, 1.0, 4.0}) {
        for (const int64_t rows : {1, 7, 130}) {
          Driver driver(*kind, size.heads, size.in);
          EXPECT_GT(driver.plan.out, 0);
          const std::vector<float> x = random_floats(rows * driver.in_width(), 2, scale);
          const std::vector<float> phi = driver.forward(x);
          const std::vector<Complex> exact = driver.reference(driver.input(x), rows);
          for (size_t i = 0; i < phi.size(); ++i) {
            ASSERT_GT(phi[i], 0) << kind->name;
            ASSERT_NEAR(phi[i], exact[i].real(), 2e-6 * (scale + exact[i].real()))
                << kind->name << " D=" << size.in << ", rows " << rows << ", scale " << scale;
          }
        }
      }
    }
  }
}

void check_gradient(Driver& driver, int64_t rows, double scale) {
  const std::vector<float> x = random_floats(rows * driver.in_width(), 3, scale);
  const std::vector<float> dphi = random_floats(rows * driver.out_width(), 4);
  const std::vector<float> gradient = driver.backward(x, driver.forward(x), dphi);
  std::vector<GradientPart> parts = parameter_parts(driver.layout, rows * driver.in_width());
  parts.push_back({"x", 0, rows * driver.in_width()});
  SCOPED_TRACE(testing::Message() << driver.kind.name << " D=" << driver.plan.in << ", rows "
                                  << rows << ", scale " << scale);
  check_gradients([&](const std::vector<Complex>& input) { return driver.reference(input, rows); },
                  driver.input(x), dphi, parts, gradient);
}

TEST(Features, GradientsAreTheComplexStepDerivative) {
  for (const Feature* kind : features()) {
    for (const Sizes size : kSizes) {
      for (const double scale : {0.25, 1.0, 4.0}) {
        for (const int64_t rows : {1, 7, 40}) {
          Driver driver(*kind, size.heads, size.in);
          check_gradient(driver, rows, scale);
        }
      }
    }
  }
}

// Where a kind lets F differ from D, all of it holds as well; where not, it says so.
TEST(Features, MoreOrFewerFeaturesThanInputs) {
  for (const Feature* kind : features()) {
    for (const int64_t out : {3, 16, 21}) {
      try {
        Driver driver(*kind, 2, 8, out);
        EXPECT_EQ(driver.plan.out, out);
        const std::vector<float> x = random_floats(7 * driver.in_width(), 5);
        const std::vector<float> phi = driver.forward(x);
        const std::vector<Complex> exact = driver.reference(driver.input(x), 7);
        for (size_t i = 0; i < phi.size(); ++i) ASSERT_NEAR(phi[i], exact[i].real(), 1e-5);
        check_gradient(driver, 7, 1);
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find(kind->name), std::string::npos) << error.what();
      }
    }
  }
}

TEST(Features, BackwardAddsToTheParametersOnly) {
  for (const Feature* kind : features()) {
    Driver driver(*kind, 2, 8);
    const std::vector<float> x = random_floats(7 * 16, 6),
                             dphi = random_floats(7 * driver.out_width(), 7);
    const std::vector<float> phi = driver.forward(x), once = driver.backward(x, phi, dphi);
    std::vector<float> twice = once, used = dphi;
    driver.kind.backward(driver.plan, driver.weights, 7, {x.data(), 16},
                         {phi.data(), driver.out_width()}, {used.data(), driver.out_width()},
                         {twice.data(), 16}, twice.data() + x.size(), driver.scratch);
    for (size_t i = 0; i < once.size(); ++i) {
      ASSERT_NEAR(twice[i], i < x.size() ? once[i] : 2 * once[i], 1e-5 * (1 + std::abs(once[i])));
    }
  }
}

// At inference the first product is folded into the projection in front of phi.
TEST(Features, FoldedEqualsUnfolded) {
  for (const Feature* kind : features()) {
    if (kind->fold == nullptr) continue;
    for (const Sizes size : kSizes) {
      Driver driver(*kind, size.heads, size.in);
      constexpr int64_t kInRows = 13, kRows = 6;
      const int64_t C = driver.in_width();
      std::vector<float> weight = random_floats(kInRows * C, 8, 0.3),
                         bias = random_floats(C, 9, 0.3);
      const std::vector<float> h = random_floats(kRows * kInRows, 10);
      const auto project = [&] {
        std::vector<float> x(static_cast<size_t>(kRows * C));
        for (int64_t i = 0; i < kRows * C; ++i) {
          double sum = bias[static_cast<size_t>(i % C)];
          for (int64_t k = 0; k < kInRows; ++k) {
            sum += static_cast<double>(h[static_cast<size_t>(i / C * kInRows + k)]) *
                   weight[static_cast<size_t>(k * C + i % C)];
          }
          x[static_cast<size_t>(i)] = static_cast<float>(sum);
        }
        return x;
      };
      const std::vector<float> phi = driver.forward(project());
      kind->fold(driver.plan, driver.params.data(), kInRows, weight.data(), bias.data());
      std::vector<float> folded = project();
      kind->activate(driver.plan, kRows, {folded.data(), C}, {folded.data(), C});
      ASSERT_EQ(folded.size(), phi.size());
      for (size_t i = 0; i < phi.size(); ++i) EXPECT_NEAR(folded[i], phi[i], 3e-6 * (1 + phi[i]));
    }
  }
}

TEST(Features, ExtremeInputsStayFinite) {
  for (const Feature* kind : features()) {
    for (const double scale : {0.0, 1e-30, 1e4}) {
      Driver driver(*kind, 2, 8);
      const std::vector<float> x = random_floats(9 * 16, 11, scale);
      const std::vector<float> phi = driver.forward(x);
      const std::vector<float> gradient =
          driver.backward(x, phi, random_floats(9 * driver.out_width(), 12));
      for (const float value : phi) EXPECT_TRUE(std::isfinite(value) && value >= 0) << kind->name;
      for (const float value : gradient) EXPECT_TRUE(std::isfinite(value)) << kind->name;
    }
  }
}

// Chunks of a sequence are independent: the rows of phi do not depend on their neighbours.
TEST(Features, RowsAreIndependentBitForBit) {
  for (const Feature* kind : features()) {
    Driver driver(*kind, 3, 5);
    const std::vector<float> x = random_floats(20 * 15, 13), phi = driver.forward(x);
    std::vector<float> parts;
    for (const auto& [first, rows] : {std::pair<int64_t, int64_t>{0, 1}, {1, 12}, {13, 7}}) {
      const std::vector<float> part =
          driver.forward({x.begin() + first * 15, x.begin() + (first + rows) * 15});
      parts.insert(parts.end(), part.begin(), part.end());
    }
    EXPECT_EQ(parts, phi) << kind->name;
  }
}

}  // namespace
}  // namespace linnet
