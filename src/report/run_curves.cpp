// run_curves.cpp -- interpolation of curves that were measured at different places.
#include "report/run_curves.h"

#include <algorithm>
#include <cmath>

namespace linnet {
namespace {

struct Curve {
  std::vector<double> x, y;

  double at(double place) const {
    const auto after = std::ranges::lower_bound(x, place);
    const auto i = static_cast<size_t>(after - x.begin());
    if (i == x.size()) return y.back();
    if (i == 0 || *after == place) return y[i];
    const double share = (place - x[i - 1]) / (x[i] - x[i - 1]);
    return y[i - 1] + share * (y[i] - y[i - 1]);
  }
};

}  // namespace

CurveBand curve_band(const std::vector<const RunRecord*>& runs, double RunCurvePoint::*x,
                     double RunCurvePoint::*y, size_t points) {
  std::vector<Curve> curves;
  for (const RunRecord* run : runs) {
    Curve curve;
    for (const RunCurvePoint& point : run->curve) {
      const bool rises = curve.x.empty() || point.*x > curve.x.back();
      if (std::isnan(point.*x) || std::isnan(point.*y) || !rises) continue;
      curve.x.push_back(point.*x);
      curve.y.push_back(point.*y);
    }
    if (!curve.x.empty()) curves.push_back(std::move(curve));
  }
  CurveBand band;
  if (curves.empty()) return band;
  double first = 0, last = curves[0].x.back();
  bool same = true;
  for (const Curve& curve : curves) {
    first = std::max(first, curve.x.front());
    last = std::min(last, curve.x.back());
    same = same && curve.x == curves[0].x;
  }
  if (!(first < last)) return band;
  if (same) {
    band.x = curves[0].x;
  } else {
    for (size_t i = 0; i < points; ++i)
      band.x.push_back(first +
                       (last - first) * static_cast<double>(i) / static_cast<double>(points - 1));
  }
  for (const double place : band.x) {
    double sum = 0, low = INFINITY, high = -INFINITY;
    for (const Curve& curve : curves) {
      const double value = curve.at(place);
      sum += value;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    band.mean.push_back(sum / static_cast<double>(curves.size()));
    band.low.push_back(low);
    band.high.push_back(high);
  }
  return band;
}

}  // namespace linnet
