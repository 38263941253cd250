// ordered_sum.h -- a sum of blocks in the order of their numbers, whatever thread finishes first.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "core/arena.h"

namespace linnet {

// Threads take an empty block for task 0, 1, 2, ... of a round, fill it and give it back; the
// blocks are added to the total in the order of the tasks. A thread that is ahead of its turn
// leaves its block and goes on with a spare one: it waits only when none is left.
class OrderedSum {
 public:
  // `blocks` of them: one a thread, and the spares.
  OrderedSum(int64_t floats, int blocks);

  void start_round();
  // A zeroed block for this task; blocks are handed out in the order of the tasks.
  Block& take(int64_t task);
  void give(int64_t task, Block& block);
  // Complete after a round in which every task gave its block.
  float* total() { return total_.data(); }
  const float* total() const { return total_.data(); }

 private:
  std::vector<Block> blocks_;
  Block total_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Block*> free_;
  std::map<int64_t, Block*> ready_;
  int64_t taken_ = 0, added_ = 0;
  bool adding_ = false;
};

}  // namespace linnet
