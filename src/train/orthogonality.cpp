// orthogonality.cpp -- W W^T - I of every orthogonal matrix, and the step towards zero.
#include "train/orthogonality.h"

#include <algorithm>
#include <cmath>

#include "kernels/gemm.h"
#include "kernels/rows.h"

namespace linnet {
namespace {

// W W^T - I, or W^T W - I where out < in.
std::vector<float> deviation(const Matrix& m, const float* w) {
  const int64_t n = std::min(m.in, m.out);
  std::vector<float> g(static_cast<size_t>(n * n));
  if (m.out < m.in) {
    gemm(n, n, m.in, columns_of(w, m.out), plain(w, m.out), g.data(), n);
  } else {
    std::vector<float> panels(static_cast<size_t>(packed_floats(m.out, m.in)));
    pack_transposed(m.out, m.in, w, m.out, panels.data());
    gemm(n, n, m.out, rows_of(w, m.out), packed(panels.data(), m.out), g.data(), n);
  }
  for (int64_t i = 0; i < n; ++i) g[static_cast<size_t>(i * n + i)] -= 1;
  return g;
}

}  // namespace

std::vector<float> orthogonality_gradient(const Matrix& m, double lambda, const float* values) {
  const float* w = values + m.weight;
  std::vector<float> g = deviation(m, w);
  for (float& x : g) x *= static_cast<float>(2 * lambda);
  std::vector<float> dw(static_cast<size_t>(m.in * m.out));
  if (m.out < m.in) {
    gemm(m.in, m.out, m.out, rows_of(w, m.out), plain(g.data(), m.out), dw.data(), m.out);
  } else {
    gemm(m.in, m.out, m.in, rows_of(g.data(), m.in), plain(w, m.out), dw.data(), m.out);
  }
  return dw;
}

void pull_orthogonal(Context& context, const ParamLayout& layout, double lambda, float* values) {
  const auto& kept = layout.orthogonal();
  context.parallel(static_cast<int64_t>(kept.size()), [&](int64_t i, int) {
    const Matrix& m = kept[static_cast<size_t>(i)];
    const std::vector<float> dw = orthogonality_gradient(m, lambda, values);
    add_scaled(m.in * m.out, -1.0f, dw.data(), values + m.weight);
  });
}

double worst_orthogonality(const ParamLayout& layout, const float* values) {
  double worst = 0;
  for (const Matrix& m : layout.orthogonal()) {
    for (const float x : deviation(m, values + m.weight))
      worst = std::max<double>(worst, std::abs(x));
  }
  return worst;
}

}  // namespace linnet
