// gradient_lanes_test.cpp -- the order of the sum is that of the units, on any number of threads.
#include "train/gradient_lanes.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace linnet {
namespace {

// Numbers whose float sum depends on the order.
float value_of(int64_t unit) { return unit % 3 == 0 ? 1e8f : 1.0f + static_cast<float>(unit); }

TEST(GradientLanesTest, OrderIsThatOfTheUnits) {
  for (const int64_t units : {0, 1, 3, 50}) {
    for (const int lanes : {1, 2, 3, 4}) {
      std::vector<float> sums(static_cast<size_t>(lanes));
      for (int64_t unit = 0; unit < units; ++unit)
        sums[static_cast<size_t>(unit % lanes)] += value_of(unit);
      float want = 0;
      for (const float sum : sums) want += sum;
      for (const int threads : {1, 2, 3, 6}) {
        Context context(threads);
        GradientLanes gradient(5, lanes);
        for (int round = 0; round < 5; ++round) {
          gradient.run(context, units, [&](int64_t unit, int worker, float* lane) {
            EXPECT_LT(worker, threads);
            if (unit % 7 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
            for (int i = 0; i < 5; ++i) lane[i] += value_of(unit);
          });
          for (int i = 0; i < 5; ++i) EXPECT_EQ(gradient.total()[i], want) << threads << lanes;
          std::fill_n(gradient.total(), 5, 0.0f);
        }
      }
    }
  }
}

TEST(GradientLanesTest, AnExceptionEndsTheRound) {
  for (const int threads : {1, 2, 3}) {
    Context context(threads);
    GradientLanes gradient(5, 3);
    EXPECT_THROW(gradient.run(context, 20,
                              [&](int64_t unit, int, float*) {
                                if (unit == 4) throw std::runtime_error("unit 4");
                              }),
                 std::runtime_error);
  }
}

}  // namespace
}  // namespace linnet
