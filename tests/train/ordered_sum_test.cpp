// ordered_sum_test.cpp -- the order of the sum is that of the tasks, and no number of blocks locks
// up.
#include "train/ordered_sum.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "core/context.h"

namespace linnet {
namespace {

// Numbers whose float sum depends on the order.
float value_of(int64_t task) { return task % 3 == 0 ? 1e8f : 1.0f + static_cast<float>(task); }

TEST(OrderedSumTest, OrderIsThatOfTheTasks) {
  constexpr int64_t kTasks = 50;
  float want = 0;
  for (int64_t task = 0; task < kTasks; ++task) want += value_of(task);
  for (int threads : {1, 2, 3}) {
    for (int spare : {0, 1, 3}) {
      Context context(threads);
      OrderedSum sum(5, threads + spare);
      for (int round = 0; round < 5; ++round) {
        std::fill_n(sum.total(), 5, 0.0f);
        sum.start_round();
        context.parallel(kTasks, [&](int64_t task, int) {
          Block& block = sum.take(task);
          for (int i = 0; i < 5; ++i) {
            EXPECT_EQ(block.data()[i], 0.0f);
            block.data()[i] = value_of(task);
          }
          if (task % 7 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
          sum.give(task, block);
        });
        for (int i = 0; i < 5; ++i) EXPECT_EQ(sum.total()[i], want) << threads << " " << spare;
      }
    }
  }
}

}  // namespace
}  // namespace linnet
