// gradient_lanes.cpp -- hands out lanes to threads and adds them up.
#include "train/gradient_lanes.h"

#include <algorithm>

#include "kernels/rows.h"

namespace linnet {

// Who works on which lane.
struct GradientLanes::Round {
  static constexpr int64_t kNone = -1;
  int64_t units;
  std::vector<int64_t> next;  // unit of each lane
  std::vector<bool> busy;
  std::mutex mutex{};
  std::condition_variable changed{};
  bool failed = false;

  Round(int64_t count, size_t lanes) : units(count), next(lanes), busy(lanes) {
    for (size_t l = 0; l < lanes; ++l) next[l] = static_cast<int64_t>(l);
  }
  // The free lane with the earliest unit, marked busy; waits for one; kNone when all are done.
  int64_t take() {
    std::unique_lock lock(mutex);
    for (;;) {
      int64_t best = kNone;
      bool left = false;
      for (size_t l = 0; l < next.size(); ++l) {
        if (failed || next[l] >= units) continue;
        left = true;
        if (!busy[l] && (best == kNone || next[l] < next[static_cast<size_t>(best)]))
          best = static_cast<int64_t>(l);
      }
      if (best != kNone) busy[static_cast<size_t>(best)] = true;
      if (best != kNone || !left) return best;
      changed.wait(lock);
    }
  }
  void give(int64_t lane, bool ok) {
    const std::lock_guard lock(mutex);
    busy[static_cast<size_t>(lane)] = false;
    next[static_cast<size_t>(lane)] += static_cast<int64_t>(next.size());
    failed = failed || !ok;
    changed.notify_all();
  }
};

GradientLanes::GradientLanes(int64_t floats, int lanes) {
  for (int l = 0; l < lanes; ++l) lanes_.emplace_back(floats);
}

void GradientLanes::run(Context& context, int64_t units,
                        const std::function<void(int64_t unit, int worker, float* lane)>& job) {
  Round round(units, lanes_.size());
  context.parallel(context.threads(), [&](int64_t, int worker) {
    for (int64_t l = round.take(); l != Round::kNone; l = round.take()) {
      try {
        job(round.next[static_cast<size_t>(l)], worker, lanes_[static_cast<size_t>(l)].data());
      } catch (...) {
        round.give(l, false);
        throw;
      }
      round.give(l, true);
    }
  });
  collect(context);
}

void GradientLanes::collect(Context& context) {
  constexpr int64_t kRange = 1 << 16;
  const int64_t floats = lanes_[0].size();
  context.parallel((floats + kRange - 1) / kRange, [&](int64_t task, int) {
    const int64_t at = task * kRange, n = std::min(kRange, floats - at);
    for (size_t l = 1; l < lanes_.size(); ++l) {
      add(n, lanes_[l].data() + at, lanes_[0].data() + at);
      std::fill_n(lanes_[l].data() + at, n, 0.0f);
    }
  });
}

}  // namespace linnet
