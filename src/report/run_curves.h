// run_curves.h -- the learning curves of several seeds as one line with a band.
#pragma once

#include <vector>

#include "report/run_records.h"

namespace linnet {

// At each x the mean over the seeds, and the lowest and highest of them.
struct CurveBand {
  std::vector<double> x, mean, low, high;
};

// Over the range of x that all curves have. Curves with the same x are taken as they are; else they
// are interpolated on `points` places. Empty when no two points are common.
CurveBand curve_band(const std::vector<const RunRecord*>& runs, double RunCurvePoint::*x,
                     double RunCurvePoint::*y, size_t points = 60);

}  // namespace linnet
