// orthogonality_test.cpp -- the regulariser: its gradient, and where it pulls to.
#include "train/orthogonality.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/gradient_check.h"

namespace linnet {
namespace {

// P = lambda / 2 sum((W W^T - I)^2) of one matrix, written out.
Complex penalty(const std::vector<Complex>& w, int64_t in, int64_t out, double lambda) {
  Complex total = 0;
  const int64_t n = std::min(in, out);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      Complex g = i == j ? -1.0 : 0.0;
      for (int64_t k = 0; k < std::max(in, out); ++k) {
        g += w[static_cast<size_t>(out < in ? k * out + i : i * out + k)] *
             w[static_cast<size_t>(out < in ? k * out + j : j * out + k)];
      }
      total += lambda / 2 * g * g;
    }
  }
  return total;
}

TEST(Orthogonality, GradientIsTheComplexStepDerivative) {
  for (const auto& [in, out] : {std::pair<int64_t, int64_t>{5, 5}, {4, 9}, {9, 4}, {17, 17}}) {
    ParamLayout layout;
    const int64_t weight = layout.add("w", {in, out}, Init::orthogonal, 1.0f, false);
    const Matrix matrix = layout.matrix(weight, in, out);
    layout.keep_orthogonal(matrix);
    Block values(layout.floats());
    layout.initialise(1, values.data());
    EXPECT_LT(worst_orthogonality(layout, values.data()), 1e-6) << "at the start";
    for (const double scale : {0.01, 0.3}) {
      const std::vector<float> noise = random_floats(in * out, 2, scale);
      std::vector<Complex> x;
      for (int64_t i = 0; i < in * out; ++i) {
        values.data()[i] += noise[static_cast<size_t>(i)];
        x.emplace_back(values.data()[i]);
      }
      const auto f = [rows = in, columns = out](const std::vector<Complex>& w) {
        return std::vector<Complex>{penalty(w, rows, columns, 0.1)};
      };
      check_gradients(f, x, {1.0f}, {{"w", 0, in * out}},
                      orthogonality_gradient(matrix, 0.1, values.data()));
    }
    const double before = worst_orthogonality(layout, values.data());
    Context context(2);
    for (int step = 0; step < 100; ++step) pull_orthogonal(context, layout, 0.1, values.data());
    EXPECT_GT(before, 0.1);
    EXPECT_LT(worst_orthogonality(layout, values.data()), 1e-5);
  }
}

}  // namespace
}  // namespace linnet
