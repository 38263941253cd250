// measure.h -- timing on a machine that is shared: gated by the peak of fused multiply-adds, before
// and after.
#pragma once

#include <functional>
#include <vector>

#include "core/context.h"

namespace linnet {

double median(std::vector<double> values);

// Runs step() for about `seconds`, at least once; tokens a second.
double repeat(double seconds, double tokens, const std::function<void()>& step);

// The peak of all cores together, and measurements gated by it.
class Gate {
 public:
  explicit Gate(Context& context) : context_(context) {}

  // FLOP/s that all threads sustain now.
  double peak();
  double median_peak() const { return median(peaks_); }

  struct Result {
    double rate;  // what work() returned
    double peak;  // FLOP/s, mean of before and after
  };
  // work() returns a rate. While the peak before or after it is below 95% of the best seen, another
  // tenant is on the core: the measurement is repeated, kAttempts times at most, and the least
  // disturbed one is taken.
  Result measure(const std::function<double()>& work);

 private:
  static constexpr int kAttempts = 5;
  Context& context_;
  std::vector<double> peaks_;
  double best_ = 0;
};

}  // namespace linnet
