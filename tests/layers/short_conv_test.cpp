// short_conv_test.cpp -- the convolution's definition, its gradients, and that chunks do not show.
#include "layers/short_conv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/gradient_check.h"

namespace linnet {
namespace {

constexpr float kGuard = 4321.5f;

struct Size {
  int64_t rows, width, taps;
};

// Every tap count from 1 to 5 and the most, sequences shorter than the window, tails of vectors.
std::vector<Size> sizes() {
  std::vector<Size> all;
  for (const int64_t taps : {1, 2, 3, 4, 5, 64}) {
    for (const int64_t rows : {1, 2, 3, 7, 20}) {
      for (const int64_t width : {1, 5, 16, 37}) all.push_back({rows, width, taps});
    }
  }
  return all;
}

// The rows of a sequence, and zeros in front of them and behind them; a column to spare.
struct Padded {
  int64_t rows, width, halo, ld;
  std::vector<float> data;

  Padded(const ShortConv& conv, int64_t T, const std::vector<float>& values)
      : rows(T), width(conv.width), halo(conv.halo()), ld(conv.width + 1) {
    data.resize(static_cast<size_t>((T + 2 * halo) * ld));
    for (int64_t i = 0; i < T * width; ++i)
      mat().row(i / width)[i % width] = values[static_cast<size_t>(i)];
    for (int64_t r = 0; r < T; ++r) mat().row(r)[width] = kGuard;
  }
  Mat mat() { return Mat{data.data(), ld}.rows(halo); }
  std::vector<float> values() {
    std::vector<float> out;
    for (int64_t r = 0; r < rows; ++r) {
      EXPECT_EQ(mat().row(r)[width], kGuard);
      out.insert(out.end(), mat().row(r), mat().row(r) + width);
    }
    return out;
  }
};

// A convolution with random weights, and something in front of them in the block.
struct Fixture {
  Context context{1};
  ParamLayout layout;
  ShortConv conv;
  std::vector<float> params;
  Weights weights;

  Fixture(int64_t width, int64_t taps) {
    layout.add("before", {3}, Init::ones, 0.0f, false);
    conv = add_short_conv(layout, "conv", width, taps);
    params = random_floats(layout.floats(), 1);
    weights = {.params = params.data()};
  }
  std::vector<float> forward(int64_t T, const std::vector<float>& x, int64_t chunk) {
    Padded in(conv, T, x), out(conv, T, x);
    for (int64_t at = 0; at < T; at += chunk) {
      conv_forward(conv, weights, std::min(chunk, T - at), in.mat().rows(at), out.mat().rows(at));
    }
    return out.values();
  }
  // dx and then the block of the parameters' gradients.
  std::vector<float> backward(int64_t T, const std::vector<float>& x, const std::vector<float>& dy,
                              int64_t chunk) {
    Padded in(conv, T, x), dout(conv, T, dy), din(conv, T, x);
    std::vector<float> grads(params.size());
    for (int64_t at = 0; at < T; at += chunk) {
      conv_backward(conv, weights, std::min(chunk, T - at), in.mat().rows(at), dout.mat().rows(at),
                    din.mat().rows(at), grads.data());
    }
    std::vector<float> all = din.values();
    all.insert(all.end(), grads.begin(), grads.end());
    return all;
  }
};

// Flat input: x [T, C], then the parameter block.
std::vector<Complex> reference(const ShortConv& conv, int64_t T,
                               const std::vector<Complex>& input) {
  const int64_t C = conv.width;
  const Complex* c = input.data() + T * C + conv.weight;
  std::vector<Complex> y(static_cast<size_t>(T * C));
  for (int64_t i = 0; i < T * C; ++i) {
    for (int64_t j = 0; j < conv.taps && j <= i / C; ++j) {
      y[static_cast<size_t>(i)] += c[j * C + i % C] * input[static_cast<size_t>(i - j * C)];
    }
  }
  return y;
}

TEST(ShortConvLayer, StartsAsTheIdentity) {
  for (const auto& [T, C, taps] : sizes()) {
    Fixture f(C, taps);
    ASSERT_EQ(f.layout.specs().size(), 2u);
    EXPECT_EQ(f.layout.specs()[1].name, "conv.weight");
    EXPECT_EQ(f.layout.specs()[1].shape, (std::vector<int64_t>{taps, C}));
    EXPECT_FALSE(f.layout.specs()[1].decay);
    EXPECT_EQ(f.conv.halo(), taps - 1);
    EXPECT_EQ(f.conv.halo(2), std::min<int64_t>(2, taps - 1));
    f.layout.initialise(1, f.params.data());
    const std::vector<float> x = random_floats(T * C, 2);
    EXPECT_EQ(f.forward(T, x, T), x);
  }
  EXPECT_EQ(ShortConv().halo(), 0);
}

TEST(ShortConvLayer, ForwardAndGradientsAreThoseOfTheDefinition) {
  for (const double scale : {0.25, 1.0, 4.0}) {
    for (const auto& [T, C, taps] : sizes()) {
      Fixture f(C, taps);
      const std::vector<float> x = random_floats(T * C, 3, scale), dy = random_floats(T * C, 4);
      std::vector<Complex> input;
      append(input, x.data(), T * C);
      append(input, f.params.data(), f.layout.floats());
      const auto define = [&, rows = T](const std::vector<Complex>& v) {
        return reference(f.conv, rows, v);
      };
      const std::vector<Complex> exact = define(input);
      const std::vector<float> y = f.forward(T, x, T);
      for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], exact[i].real(), 5e-6 * scale);

      std::vector<GradientPart> parts = parameter_parts(f.layout, T * C);
      parts.push_back({"x", 0, T * C});
      check_gradients(define, input, dy, parts, f.backward(T, x, dy, T), {.coordinates = 12});
    }
  }
}

TEST(ShortConvLayer, ChunksDoNotShow) {
  for (const auto& [T, C, taps] : sizes()) {
    Fixture f(C, taps);
    const std::vector<float> x = random_floats(T * C, 5), dy = random_floats(T * C, 6);
    const std::vector<float> y = f.forward(T, x, T), gradient = f.backward(T, x, dy, T);
    for (const int64_t chunk : {1, 3, 8}) {
      EXPECT_EQ(f.forward(T, x, chunk), y);
      const std::vector<float> parts = f.backward(T, x, dy, chunk);
      // dc is a sum over the chunks: the same within rounding.
      for (size_t i = 0; i < parts.size(); ++i) {
        ASSERT_NEAR(parts[i], gradient[i], i < x.size() ? 0 : 1e-5);
      }
    }
    Padded in_place(f.conv, T, x);
    conv_forward(f.conv, f.weights, T, in_place.mat(), in_place.mat());
    EXPECT_EQ(in_place.values(), y);
  }
}

}  // namespace
}  // namespace linnet
