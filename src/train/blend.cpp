// blend.cpp -- Newton's method in two numbers.
#include "train/blend.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/error.h"

namespace linnet {
namespace {

struct Slope {
  double value = 0;
  double a = 0, b = 0;            // first derivatives
  double aa = 0, ab = 0, bb = 0;  // second
};

Slope slope_at(const Blend& at, size_t classes, std::span<const float> u, std::span<const float> v,
               std::span<const int> labels) {
  const double da = at.first - 1, db = at.second - 1;
  Slope s{.value = kBlendPull / 2 * (da * da + db * db),
          .a = kBlendPull * da,
          .b = kBlendPull * db,
          .aa = kBlendPull,
          .bb = kBlendPull};
  std::vector<double> p(classes);
  for (size_t i = 0; i < labels.size(); ++i) {
    const float* ui = u.data() + i * classes;
    const float* vi = v.data() + i * classes;
    for (size_t c = 0; c < classes; ++c) p[c] = at.first * ui[c] + at.second * vi[c];
    const double top = *std::ranges::max_element(p);
    double sum = 0;
    for (double& x : p) sum += x = std::exp(x - top);
    const auto label = static_cast<size_t>(labels[i]);
    s.value += std::log(sum) + top - at.first * ui[label] - at.second * vi[label];
    // Means over the classes, weighed by their probabilities.
    double mu = 0, mv = 0, muu = 0, muv = 0, mvv = 0;
    for (size_t c = 0; c < classes; ++c) {
      const double q = p[c] / sum, x = ui[c], y = vi[c];
      mu += q * x, mv += q * y;
      muu += q * x * x, muv += q * x * y, mvv += q * y * y;
    }
    s.a += mu - ui[label];
    s.b += mv - vi[label];
    s.aa += muu - mu * mu;
    s.ab += muv - mu * mv;
    s.bb += mvv - mv * mv;
  }
  return s;
}

}  // namespace

Blend fit_blend(int64_t classes, std::span<const float> u, std::span<const float> v,
                std::span<const int> labels) {
  const auto width = static_cast<size_t>(classes);
  LINNET_ASSERT(u.size() == labels.size() * width && v.size() == u.size());
  const auto length = [](std::span<const float> x) {
    return std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
  };
  const double long_u = length(u), long_v = length(v),
               size_of_v = long_u > 0 && long_v > 0 ? long_u / long_v : 1;
  std::vector<float> scaled(v.begin(), v.end());
  for (float& x : scaled) x = static_cast<float>(x * size_of_v);
  const auto at = [&](const Blend& blend) { return slope_at(blend, width, u, scaled, labels); };
  Blend best;
  Slope s = at(best);
  for (int step = 0; step < 50; ++step) {
    // The pull keeps the determinant above 0.
    const double det = s.aa * s.bb - s.ab * s.ab;
    const double da = (s.ab * s.b - s.bb * s.a) / det, db = (s.ab * s.a - s.aa * s.b) / det;
    double size = 1;
    Blend next;
    Slope there;
    do {
      next = {best.first + size * da, best.second + size * db};
      there = at(next);
      size /= 2;
    } while (!(there.value <= s.value) && size > 1e-6);
    if (!(there.value < s.value)) break;
    best = next;
    s = there;
    if (std::hypot(da, db) < 1e-9) break;
  }
  return {best.first, best.second * size_of_v};
}

}  // namespace linnet
