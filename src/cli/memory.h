// memory.h -- the process's peak memory, as the kernel counts it.
#pragma once

#include <cstdint>

namespace linnet {

// Starts the count anew, where the kernel allows it.
void reset_peak_memory();
// Bytes resident at most since the start or the last reset; 0 where unknown.
int64_t peak_memory();

}  // namespace linnet
