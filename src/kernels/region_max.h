// region_max.h -- the largest sum of neighbouring tokens' rows, unit by unit.
#pragma once

#include <cstdint>
#include <span>

namespace linnet {

// Units that are looked at together: their rows are a few cache lines, and all that is kept of them
// stays in registers.
inline constexpr int64_t kRegionBlock = 64;

// table [places, rows, kRegionBlock]. Over t = 0 .. ids.size() - places:
//   top[u] = max_t sum_p table[p, ids[t + p], u],  at[u] = the first such t
// ids are below rows, at least `places` of them.
void region_max(const float* table, int64_t places, int64_t rows, std::span<const int32_t> ids,
                float* top, int32_t* at) noexcept;

}  // namespace linnet
