// measure.h -- timing on a machine that is shared: gated by the peak of fused multiply-adds.
#pragma once

#include <functional>
#include <vector>

#include "core/context.h"

namespace linnet {

double median(std::vector<double> values);
// The largest: what the machine does when nobody else is on it, since a neighbour only ever slows a
// run down.
double best(const std::vector<double>& values);

// Runs step() for about `seconds`, at least once; tokens a second.
double repeat(double seconds, double tokens, const std::function<void()>& step);

// The peak of all cores together, and measurements gated by it.
class Gate {
 public:
  explicit Gate(Context& context) : context_(context) {}

  // FLOP/s that all threads sustain now, and the most ever seen.
  double peak();
  double best_peak() const { return best_; }

  // A rate, and the mean of the peaks before and after it.
  struct Measured {
    double rate = 0, peak = 0;
  };
  // work() returns a rate. While the peak before or after it is below 95% of the best seen, another
  // tenant is on the core: the measurement is repeated, `attempts` times at most, and the least
  // disturbed one is taken.
  Measured measure(const std::function<double()>& work, int attempts = 3);

 private:
  Context& context_;
  double best_ = 0;
};

}  // namespace linnet
