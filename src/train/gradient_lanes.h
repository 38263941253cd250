// gradient_lanes.h -- sums of gradients that do not depend on which thread is faster.
//
// Unit i of a batch is added to lane i mod L, and the units of a lane one after the other; at the
// end the lanes are added in their order. So the sum depends on L, a recorded setting, and never
// on the threads; and a thread that is ahead goes on with any lane that is free.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "core/arena.h"
#include "core/context.h"

namespace linnet {

class GradientLanes {
 public:
  GradientLanes(int64_t floats, int lanes);

  // Calls job(unit, worker, lane) for every unit in 0 .. units-1; the job adds to `lane`. Then all
  // lanes are added to the total. An exception of a job ends the round and is thrown again here.
  void run(Context& context, int64_t units,
           const std::function<void(int64_t unit, int worker, float* lane)>& job);
  int lanes() const { return static_cast<int>(lanes_.size()); }
  // What was added since the caller last cleared it.
  float* total() { return lanes_[0].data(); }
  const float* total() const { return lanes_[0].data(); }

 private:
  struct Round;
  void collect(Context& context);
  std::vector<Block> lanes_;
};

}  // namespace linnet
