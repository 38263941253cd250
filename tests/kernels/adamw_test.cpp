// adamw_test.cpp -- the optimiser against its definition in double, over steps.
#include "kernels/adamw.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/context.h"
#include "tests/gradient_check.h"

namespace linnet {
namespace {

constexpr float kGuard = 31.25f;

AdamwStep step_of(int step, float decay, float gradient_scale) {
  AdamwStep s{.rate = 1e-2f,
              .beta1 = 0.9f,
              .beta2 = 0.98f,
              .eps = 1e-8f,
              .decay = decay,
              .correction1 = 0,
              .correction2 = 0,
              .gradient_scale = gradient_scale};
  s.correction1 = static_cast<float>(1 - std::pow(0.9, step));
  s.correction2 = static_cast<float>(1 - std::pow(0.98, step));
  return s;
}

// One parameter in double; the constants are the floats that the kernel was given.
struct Exact {
  double w, m = 0, v = 0;
  void step(const AdamwStep& s, double dw) {
    const double g = dw * s.gradient_scale;
    m = s.beta1 * m + (1 - static_cast<double>(s.beta1)) * g;
    v = s.beta2 * v + (1 - static_cast<double>(s.beta2)) * g * g;
    const double update = m / s.correction1 / (std::sqrt(v / s.correction2) + s.eps);
    w -= s.rate * (update + s.decay * w);
  }
};

TEST(Adamw, TwentyStepsEqualTheLoopInDouble) {
  Context context(1);
  for (const int64_t n : {1, 3, 7, 8, 9, 16, 17, 31, 33, 100, 1001}) {
    for (const float decay : {0.0f, 0.1f}) {
      const auto size = static_cast<size_t>(n);
      std::vector<float> w = random_floats(n, 1), m(size + 1), v(size + 1);
      std::vector<Exact> exact;
      for (const float value : w) exact.push_back({value});
      w.push_back(kGuard);
      m[size] = v[size] = kGuard;
      for (int step = 1; step <= 20; ++step) {
        const AdamwStep s = step_of(step, decay, step % 2 ? 0.125f : 1.0f);
        // Gradients of very different sizes: a step hardly depends on them.
        std::vector<float> dw = random_floats(n, static_cast<uint64_t>(step) + 10);
        for (size_t i = 0; i < size; ++i) dw[i] *= std::pow(10.0f, static_cast<float>(i % 9) - 6);
        adamw(n, s, dw.data(), w.data(), m.data(), v.data());
        for (size_t i = 0; i < size; ++i) exact[i].step(s, dw[i]);
      }
      for (size_t i = 0; i < size; ++i) {
        // Twenty steps of 1e-2: a thousandth of a percent of the way, and the rounding of w itself.
        ASSERT_NEAR(w[i], exact[i].w, 20 * 1e-2 * 1e-5 + 20 * 6e-8 * std::abs(exact[i].w)) << i;
        ASSERT_NEAR(v[i], exact[i].v, 2e-5 * exact[i].v);
        ASSERT_NEAR(m[i], exact[i].m, 2e-5 * std::sqrt(exact[i].v));
      }
      EXPECT_TRUE(w[size] == kGuard && m[size] == kGuard && v[size] == kGuard);
    }
  }
}

TEST(Adamw, FirstStepIsTheRateWhateverTheGradient) {
  Context context(1);
  const std::vector<float> dw = {1e-4f, -1e-4f, 1.0f, -1.0f, 1e4f, -1e4f};
  std::vector<float> w(6), m(6), v(6);
  adamw(6, step_of(1, 0.0f, 1.0f), dw.data(), w.data(), m.data(), v.data());
  for (size_t i = 0; i < w.size(); ++i) EXPECT_NEAR(w[i], dw[i] > 0 ? -1e-2 : 1e-2, 2e-6);
}

TEST(Adamw, WithoutGradientOnlyDecayIsLeft) {
  Context context(1);
  const std::vector<float> start = random_floats(37, 5), dw(37);
  std::vector<float> w = start, kept = start, m(37), v(37);
  adamw(37, step_of(1, 0.5f, 1.0f), dw.data(), w.data(), m.data(), v.data());
  adamw(37, step_of(1, 0.0f, 1.0f), dw.data(), kept.data(), m.data(), v.data());
  for (size_t i = 0; i < w.size(); ++i) EXPECT_NEAR(w[i], start[i] * (1 - 1e-2 * 0.5), 2e-7 * 3);
  EXPECT_EQ(kept, start);
}

// The trainer may cut the block where it likes: between threads, or at every parameter.
TEST(Adamw, CutsDoNotChangeTheBits) {
  Context context(1);
  const std::vector<float> dw = random_floats(101, 6);
  std::vector<float> w = random_floats(101, 7), m(101), v(101);
  std::vector<float> w1 = w, m1 = m, v1 = v;
  for (int step = 1; step <= 3; ++step) {
    const AdamwStep s = step_of(step, 0.1f, 0.5f);
    adamw(101, s, dw.data(), w.data(), m.data(), v.data());
    for (int64_t i = 0, n = 1; i < 101; i += n, n = std::min<int64_t>(n + 3, 101 - i)) {
      adamw(n, s, dw.data() + i, w1.data() + i, m1.data() + i, v1.data() + i);
    }
  }
  EXPECT_EQ(w1, w);
  EXPECT_EQ(m1, m);
  EXPECT_EQ(v1, v);
}

}  // namespace
}  // namespace linnet
