// gradient_check.h -- a float gradient against the complex-step derivative in double.
//
// For y = f(x) that is analytic, f(x + i h e) = f(x) + i h df/de + O(h^2), and with h = 1e-50 the
// square is beyond double: the imaginary part is the derivative to full precision, with no
// difference of two near numbers (Squire and Trapp 1998). The loss is dy . y with random dy, never
// the sum of y: for softmax that one has no gradient.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "core/random.h"
#include "layers/params.h"

namespace linnet {

using Complex = std::complex<double>;

// n normal numbers with mean `offset` and standard deviation `scale`.
inline std::vector<float> random_floats(int64_t n, uint64_t seed, double scale = 1,
                                        double offset = 0) {
  Random random(seed, 77);
  std::vector<float> x(static_cast<size_t>(n));
  for (float& value : x) value = static_cast<float>(offset + scale * random.normal());
  return x;
}

inline void append(std::vector<Complex>& to, const float* values, int64_t n) {
  to.insert(to.end(), values, values + n);
}

// A tensor inside the flat input.
struct GradientPart {
  std::string name;
  int64_t offset, size;
};

// The learned parameters of a layout, in a block that starts at `base`.
inline std::vector<GradientPart> parameter_parts(const ParamLayout& layout, int64_t base) {
  std::vector<GradientPart> parts;
  for (const ParamSpec& spec : layout.specs()) {
    if (spec.learned) parts.push_back({spec.name, base + spec.offset, spec.size()});
  }
  return parts;
}

struct GradientBound {
  double relative = 1e-5;  // of the tensor's largest derivative
  double floor = 1e-6;     // where the true derivative is zero
  int64_t coordinates =
      40;  // checked one by one of each tensor, drawn at random when there are more
};

// d (dy . f(x)) / d direction, where x[at] moves by step[i] for the i-th coordinate.
template <class F>
double complex_step(const F& f, std::vector<Complex> x, const std::vector<float>& dy,
                    const std::vector<int64_t>& at, const std::vector<double>& step) {
  constexpr double kStep = 1e-50;
  for (size_t i = 0; i < at.size(); ++i)
    x[static_cast<size_t>(at[i])] += Complex(0, kStep * step[i]);
  const std::vector<Complex> y = f(x);
  EXPECT_EQ(y.size(), dy.size());
  double sum = 0;
  for (size_t i = 0; i < y.size(); ++i) sum += static_cast<double>(dy[i]) * y[i].imag();
  return sum / kStep;
}

// f maps the flat input to the flat output. Some coordinates of each tensor are checked one by one,
// and all of them along a random direction of signs: those not drawn cannot be wrong unnoticed.
template <class F>
void check_gradients(const F& f, const std::vector<Complex>& x, const std::vector<float>& dy,
                     const std::vector<GradientPart>& parts, const std::vector<float>& gradient,
                     const GradientBound& bound = {}) {
  ASSERT_EQ(gradient.size(), x.size());
  Random random(2718);
  for (const GradientPart& part : parts) {
    std::vector<int64_t> all(static_cast<size_t>(part.size));
    for (int64_t i = 0; i < part.size; ++i) all[static_cast<size_t>(i)] = part.offset + i;
    std::vector<int64_t> drawn = all;
    for (size_t i = drawn.size(); i > 1; --i) {
      std::swap(drawn[i - 1], drawn[random.below(static_cast<uint32_t>(i))]);
    }
    drawn.erase(drawn.begin() + std::min(part.size, bound.coordinates), drawn.end());
    double largest = 0, worst = 0;
    int64_t place = 0;
    for (const int64_t i : drawn) {
      const double expected = complex_step(f, x, dy, {i}, {1.0});
      const double error = std::abs(gradient[static_cast<size_t>(i)] - expected);
      largest = std::max(largest, std::abs(expected));
      // Written so that a NaN is the worst of all.
      if (!(error <= worst)) worst = error, place = i - part.offset;
    }
    const double allowed = bound.relative * largest + bound.floor;
    EXPECT_LE(worst, allowed) << part.name << "[" << place << "], largest derivative " << largest;

    std::vector<double> signs(all.size());
    double along = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      signs[i] = random.bits() & 1 ? 1 : -1;
      along += signs[i] * static_cast<double>(gradient[static_cast<size_t>(all[i])]);
    }
    const double expected = complex_step(f, x, dy, all, signs);
    EXPECT_LE(std::abs(along - expected), allowed * 3 * std::sqrt(static_cast<double>(all.size())))
        << part.name << " along a direction: " << along << " instead of " << expected;
  }
}

}  // namespace linnet
