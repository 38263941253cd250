// average.h -- averaged weights: an exponential mean of the values over the steps, which often
// predicts better than the last values.
//
// After step s = 1, 2, ...: mean += (1 - d) (value - mean), d = min(decay, (1 + s) / (10 + s)), so
// that the first steps, which say little, are soon forgotten. In this form the mean of a constant
// is that constant. Values that are drawn and not learned are copied. Sparse tables are
// left alone.
#pragma once

#include <cstdint>

#include "core/arena.h"
#include "core/context.h"
#include "models/model.h"

namespace linnet {

class Average {
 public:
  // decay in 0 .. 1, both excluded; begins as a copy of `values`.
  Average(const ParamLayout& layout, double decay, const float* values);
  // After step `step`. The result does not depend on the number of threads.
  void update(Context& context, int64_t step, const float* values);
  float* values() { return mean_.data(); }
  const float* values() const { return mean_.data(); }

 private:
  const ParamLayout& layout_;
  double decay_;
  Block mean_;
};

}  // namespace linnet
