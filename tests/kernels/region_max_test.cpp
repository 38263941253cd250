// region_max_test.cpp -- maxima and their places by the definition, the first of equals, on every
// target.
#include "kernels/region_max.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/random.h"

namespace linnet {
namespace {

TEST(RegionMaxTest, IsTheDefinition) {
  for (const int64_t places : {1, 2, 3, 8}) {
    for (const int64_t rows : {1, 7, 50}) {
      Random random(static_cast<uint64_t>(places * 100 + rows));
      std::vector<float> table(static_cast<size_t>(places * rows * kRegionBlock));
      // Few values, so that there are equals; all below zero in the first columns.
      for (size_t i = 0; i < table.size(); ++i)
        table[i] = static_cast<float>(random.below(5)) - (i % kRegionBlock < 10 ? 7.0f : 2.0f);
      for (const size_t extra : {0, 1, 30}) {
        std::vector<int32_t> ids(static_cast<size_t>(places) + extra);
        for (int32_t& id : ids)
          id = static_cast<int32_t>(random.below(static_cast<uint32_t>(rows)));
        std::vector<float> top(kRegionBlock);
        std::vector<int32_t> at(kRegionBlock);
        region_max(table.data(), places, rows, ids, top.data(), at.data());
        for (size_t u = 0; u < kRegionBlock; ++u) {
          float best = 0;
          int32_t place = -1;
          for (size_t t = 0; t <= extra; ++t) {
            float sum = 0;
            for (size_t p = 0; p < static_cast<size_t>(places); ++p)
              sum += table[(p * static_cast<size_t>(rows) + static_cast<size_t>(ids[t + p])) *
                               kRegionBlock +
                           u];
            if (place < 0 || sum > best) best = sum, place = static_cast<int32_t>(t);
          }
          EXPECT_EQ(top[u], best) << places << " " << rows << " " << extra << " " << u;
          EXPECT_EQ(at[u], place) << places << " " << rows << " " << extra << " " << u;
        }
      }
    }
  }
}

}  // namespace
}  // namespace linnet
