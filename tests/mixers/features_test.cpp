// features_test.cpp -- every feature map: reference, gradients, positivity, folding.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "features/chain.h"
#include "features/phi_text.h"
#include "tests/gradient_check.h"

namespace linnet {
namespace {

// A phi with parameters, run over vectors.
struct Driver {
  std::string text;
  Context context{1};
  ParamLayout layout;
  FeatureChain chain;
  std::vector<float> params, packed, packed_transposed;
  Weights weights;
  Arena scratch;

  Driver(const std::string& phi, int64_t heads, int64_t in) : text(phi) {
    layout.add("before", {3}, Init::ones, 0.0f, false);
    chain = build_chain(layout, "phi", text, heads, in);
    params.resize(static_cast<size_t>(layout.floats()));
    layout.initialise(1, params.data());
    packed.resize(static_cast<size_t>(layout.packed_floats()));
    packed_transposed = packed;
    layout.pack(context, params.data(), packed.data(), packed_transposed.data());
    weights = {params.data(), packed.data(), packed_transposed.data()};
  }

  int64_t in_width() const { return chain.heads * chain.in; }
  int64_t out_width() const { return chain.heads * chain.out; }

  std::vector<float> forward(const std::vector<float>& x, bool folded = false) {
    const auto rows = static_cast<int64_t>(x.size()) / in_width();
    std::vector<float> phi(static_cast<size_t>(rows * out_width()), NAN);
    chain_forward(chain, weights, rows, {x.data(), in_width()}, folded, {phi.data(), out_width()},
                  scratch);
    return phi;
  }

  // dx, then the block of gradients, which are added to.
  void backward(const std::vector<float>& x, const std::vector<float>& phi, std::vector<float> dphi,
                std::vector<float>& gradient) {
    const auto rows = static_cast<int64_t>(x.size()) / in_width();
    chain_backward(chain, weights, rows, {x.data(), in_width()}, {phi.data(), out_width()},
                   {dphi.data(), out_width()}, {gradient.data(), in_width()},
                   gradient.data() + x.size(), scratch);
  }
  std::vector<float> backward(const std::vector<float>& x, const std::vector<float>& phi,
                              const std::vector<float>& dphi) {
    std::vector<float> gradient(x.size() + params.size());
    std::fill_n(gradient.begin(), x.size(), NAN);
    backward(x, phi, dphi, gradient);
    return gradient;
  }

  // Flat input: x [rows, H*D], then the parameter block.
  std::vector<Complex> reference(const std::vector<Complex>& input, int64_t rows) const {
    std::vector<Complex> phi(static_cast<size_t>(rows * out_width()));
    for (int64_t i = 0; i < rows * chain.heads; ++i) {
      chain_reference(chain, input.data() + rows * in_width(), i % chain.heads,
                      input.data() + i * chain.in, phi.data() + i * chain.out);
    }
    return phi;
  }

  std::vector<Complex> input(const std::vector<float>& x) const {
    std::vector<Complex> all(x.begin(), x.end());
    append(all, params.data(), layout.floats());
    return all;
  }
};

// Every stage that can stand alone, and chains: what is tested of each phi.
std::vector<std::string> phis() {
  std::vector<std::string> texts;
  for (const Feature* kind : features()) {
    if (kind->positive) texts.emplace_back(kind->name);
  }
  for (const char* chain : {"1xglu", "2xglu", "3xoglu", "3xaoglu", "linear>norm>linear>gelu",
                            "linear>sigmoid", "linear>gelu>softplus", "bilinear>softplus",
                            "squares>linear>elu1", "linear>squares", "glu>hedgehog"}) {
    texts.emplace_back(chain);
  }
  return texts;
}

struct Sizes {
  int64_t heads, in;
};
constexpr Sizes kSizes[] = {{1, 1}, {3, 5}, {2, 8}, {2, 24}, {1, 33}};

TEST(Features, RecordsAreComplete) {
  ASSERT_FALSE(features().empty());
  std::set<std::string_view> names;
  for (const Feature* kind : features()) {
    ASSERT_NE(kind, nullptr);
    EXPECT_FALSE(kind->name.empty() || kind->formula.empty() || kind->summary.empty() ||
                 kind->paper.empty())
        << kind->name;
    EXPECT_TRUE(names.insert(kind->name).second) << kind->name << " twice";
    EXPECT_EQ(&find_feature(kind->name), kind);
    EXPECT_TRUE(kind->build && kind->forward && kind->backward && kind->reference)
        << kind->name << " has a hole";
  }
  EXPECT_THROW(find_feature("no such phi"), Error);
}

TEST(Features, ForwardEqualsTheReferenceAndIsPositive) {
  for (const std::string& text : phis()) {
    for (const Sizes size : kSizes) {
      for (const double scale : {0.25, 1.0, 4.0}) {
        for (const int64_t rows : {1, 7, 130}) {
          if (size.in == 1 && text.find("norm") != text.npos) continue;
          Driver driver(text, size.heads, size.in);
          ASSERT_GT(driver.chain.out, 0);
          const std::vector<float> x = random_floats(rows * driver.in_width(), 2, scale);
          const std::vector<float> phi = driver.forward(x);
          const std::vector<Complex> exact = driver.reference(driver.input(x), rows);
          double largest = scale;
          for (const Complex& value : exact) largest = std::max(largest, std::abs(value.real()));
          for (size_t i = 0; i < phi.size(); ++i) {
            ASSERT_NEAR(phi[i], exact[i].real(), 2e-6 * (largest + std::abs(exact[i].real())))
                << text << " D=" << size.in << ", rows " << rows << ", scale " << scale;
          }
          // What attention needs: products of the features of any two rows.
          const int64_t F = driver.chain.out;
          for (int64_t i = 0; i < rows * driver.chain.heads; ++i) {
            for (const int64_t j : {i % driver.chain.heads, i}) {
              const float product = std::inner_product(&phi[static_cast<size_t>(i * F)],
                                                       &phi[static_cast<size_t>(i * F)] + F,
                                                       &phi[static_cast<size_t>(j * F)], 0.0f);
              ASSERT_GE(product, 0) << text;
            }
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
  SCOPED_TRACE(testing::Message() << driver.text << " D=" << driver.chain.in << ", rows " << rows
                                  << ", scale " << scale);
  check_gradients([&](const std::vector<Complex>& input) { return driver.reference(input, rows); },
                  driver.input(x), dphi, parts, gradient, {.relative = 2e-5, .coordinates = 12});
}

TEST(Features, GradientsAreTheComplexStepDerivative) {
  for (const std::string& text : phis()) {
    for (const Sizes size : kSizes) {
      for (const double scale : {0.25, 1.0, 4.0}) {
        for (const int64_t rows : {1, 7, 40}) {
          if (size.in == 1 && text.find("norm") != text.npos) continue;
          Driver driver(text, size.heads, size.in);
          check_gradient(driver, rows, scale);
        }
      }
    }
  }
}

// F = 3, 16, 22 for D = 8 wherever a kind takes f.
TEST(Features, MoreOrFewerFeaturesThanInputs) {
  for (const Feature* kind : features()) {
    if (!kind->positive || !kind->options.starts_with("f")) continue;
    for (const int64_t out : {3, 16, 22}) {
      if (kind->name == "hedgehog" && out % 2) continue;
      Driver driver(fmt::format("{}:f={}", kind->name, out), 2, 8);
      EXPECT_EQ(driver.chain.out, out);
      const std::vector<float> x = random_floats(7 * driver.in_width(), 5);
      const std::vector<float> phi = driver.forward(x);
      const std::vector<Complex> exact = driver.reference(driver.input(x), 7);
      for (size_t i = 0; i < phi.size(); ++i) ASSERT_NEAR(phi[i], exact[i].real(), 1e-5);
      check_gradient(driver, 7, 1);
    }
  }
}

TEST(Features, BackwardAddsToTheParametersOnly) {
  for (const std::string& text : phis()) {
    Driver driver(text, 2, 8);
    const std::vector<float> x = random_floats(7 * 16, 6),
                             dphi = random_floats(7 * driver.out_width(), 7);
    const std::vector<float> phi = driver.forward(x), once = driver.backward(x, phi, dphi);
    std::vector<float> twice = once;
    driver.backward(x, phi, dphi, twice);
    for (size_t i = 0; i < once.size(); ++i) {
      ASSERT_NEAR(twice[i], i < x.size() ? once[i] : 2 * once[i], 1e-5 * (1 + std::abs(once[i])))
          << text;
    }
  }
}

// At inference the first product is folded into the projection in front of phi.
TEST(Features, FoldedEqualsUnfolded) {
  int folded_kinds = 0;
  std::vector<std::string> texts = phis();
  for (const char* chain : {"softplus:f=3", "linear:f=4>softplus", "hedgehog:f=6", "taylor:r=2"})
    texts.emplace_back(chain);
  for (const std::string& text : texts) {
    for (const Sizes size : kSizes) {
      if (size.in < 5) continue;
      Driver driver(text, size.heads, size.in);
      if (!driver.chain.folds()) continue;
      ++folded_kinds;
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
      chain_fold(driver.chain, driver.params.data(), kInRows, weight.data(), bias.data());
      const std::vector<float> folded = driver.forward(project(), true);
      for (size_t i = 0; i < phi.size(); ++i)
        EXPECT_NEAR(folded[i], phi[i], 4e-6 * (1 + std::abs(phi[i]))) << text;
    }
  }
  EXPECT_GT(folded_kinds, 20);
}

TEST(Features, ExtremeInputsStayFinite) {
  for (const std::string& text : phis()) {
    for (const double scale : {0.0, 1e-30, 1e4}) {
      Driver driver(text, 2, 8);
      const std::vector<float> x = random_floats(9 * 16, 11, scale);
      const std::vector<float> phi = driver.forward(x);
      const std::vector<float> gradient =
          driver.backward(x, phi, random_floats(9 * driver.out_width(), 12));
      for (const float value : phi) EXPECT_TRUE(std::isfinite(value)) << text;
      for (const float value : gradient) EXPECT_TRUE(std::isfinite(value)) << text;
    }
  }
}

// Chunks of a sequence are independent: the rows of phi do not depend on their neighbours.
TEST(Features, RowsAreIndependentBitForBit) {
  for (const std::string& text : phis()) {
    Driver driver(text, 3, 5);
    const std::vector<float> x = random_floats(20 * 15, 13), phi = driver.forward(x);
    std::vector<float> parts;
    for (const auto& [first, rows] : {std::pair<int64_t, int64_t>{0, 1}, {1, 12}, {13, 7}}) {
      const std::vector<float> part =
          driver.forward({x.begin() + first * 15, x.begin() + (first + rows) * 15});
      parts.insert(parts.end(), part.begin(), part.end());
    }
    EXPECT_EQ(parts, phi) << text;
  }
}

// The mean of phi(q) . phi(k) over draws of the projection is the softmax kernel.
TEST(Features, FavorIsUnbiased) {
  constexpr int64_t kD = 8;
  const std::vector<float> q = random_floats(kD, 21, 0.7), k = random_floats(kD, 22, 0.7);
  const double exact =
      std::exp(std::inner_product(q.begin(), q.end(), k.begin(), 0.0) / std::sqrt(8.0));
  Driver driver("favor:f=64,redraw=1", 1, kD);
  double sum = 0;
  constexpr int kDraws = 400;
  for (int draw = 1; draw <= kDraws; ++draw) {
    driver.layout.redraw(9, draw, driver.params.data());
    driver.layout.pack(driver.context, driver.params.data(), driver.packed.data(),
                       driver.packed_transposed.data());
    const std::vector<float> u = driver.forward(q), w = driver.forward(k);
    sum += std::inner_product(u.begin(), u.end(), w.begin(), 0.0);
  }
  EXPECT_NEAR(sum / kDraws, exact, 0.02 * exact);
}

TEST(PhiText, RefusalsNameTheCharacter) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"", "character 1]"},
      {"softplu", "no such stage"},
      {"2x", "character 3]"},
      {"2glu", "character 2]"},
      {"0xglu", "at least 1"},
      {"99999999999999999999xglu", "at most"},
      {"glu>", "character 5]"},
      {">glu", "character 1]"},
      {"linear", "can be negative"},
      {"glu>norm", "[config.phi, character 5]"},
      {"softplus:", "no option"},
      {"softplus:f", "expected \"=\""},
      {"softplus:f=", "whole number"},
      {"softplus:f=0", "at least 1"},
      {"softplus:f=3,f=4", "twice"},
      {"elu1:f=3", "takes no options"},
      {"softplus:r=3", "it takes: f"},
      {"glu glu", "expected \">\""},
      {"65xglu", "at most 64"},
      {"40xglu>40xglu", "at most 64"}};
  for (const auto& [text, part] : wrong) {
    try {
      parse_phi(text);
      ADD_FAILURE() << text << " was taken";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << text << ": " << error.what();
    }
  }
  EXPECT_EQ(parse_phi("3xaoglu:r=16").size(), 3);
  EXPECT_EQ(parse_phi("linear>norm>linear>gelu").size(), 4);
  ParamLayout layout;
  EXPECT_THROW(build_chain(layout, "phi", "aoglu:r=8", 1, 16), Error);  // r < D/2
  EXPECT_THROW(build_chain(layout, "phi", "hedgehog:f=7", 1, 16), Error);
  EXPECT_THROW(build_chain(layout, "phi", "norm>softplus", 1, 1), Error);
  EXPECT_THROW(build_chain(layout, "phi", "softplus:f=100000", 1, 16), Error);
}

}  // namespace
}  // namespace linnet
