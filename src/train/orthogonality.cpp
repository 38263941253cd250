// orthogonality.cpp -- W W^T - I of every orthogonal matrix, its mean square and its gradient.
#include "train/orthogonality.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/gemm.h"

namespace linnet {
namespace {

int64_t side(const Matrix& m) { return std::min(m.in, m.out); }

// W W^T - I, or W^T W - I where out < in.
std::vector<float> deviation(const Matrix& m, const float* w) {
  const int64_t n = side(m);
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

double add_orthogonality(Context& context, const ParamLayout& layout, double lambda, double scale,
                         const float* values, float* grads) {
  const auto& kept = layout.orthogonal();
  std::vector<double> penalties(kept.size());
  context.parallel(static_cast<int64_t>(kept.size()), [&](int64_t i, int) {
    const auto& [m, share] = kept[static_cast<size_t>(i)];
    const float* w = values + m.weight;
    const auto n = static_cast<double>(side(m));
    std::vector<float> g = deviation(m, w);
    double squares = 0;
    for (const float x : g) squares += static_cast<double>(x) * x;
    penalties[static_cast<size_t>(i)] = lambda * share * squares / (n * n);
    const auto factor = static_cast<float>(scale * lambda * share * 4 / (n * n));
    for (float& x : g) x *= factor;
    // dW += factor (W W^T - I) W, or factor W (W^T W - I).
    float* dw = grads + m.weight;
    if (m.out < m.in) {
      gemm(m.in, m.out, m.out, rows_of(w, m.out), plain(g.data(), m.out), dw, m.out, nullptr, true);
    } else {
      gemm(m.in, m.out, m.in, rows_of(g.data(), m.in), plain(w, m.out), dw, m.out, nullptr, true);
    }
  });
  return std::accumulate(penalties.begin(), penalties.end(), 0.0);
}

double worst_orthogonality(const ParamLayout& layout, const float* values) {
  double worst = 0;
  for (const auto& [m, share] : layout.orthogonal()) {
    for (const float x : deviation(m, values + m.weight))
      worst = std::max<double>(worst, std::abs(x));
  }
  return worst;
}

}  // namespace linnet
