// bench_engine.h -- speed and memory of the engine, alone and beside PyTorch, in one run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/config.h"

namespace linnet {

struct BenchOptions {
  double seconds = 4;    // of one measurement
  int rounds = 4;        // measurements of each contender, taking turns
  bool pytorch = false;  // beside PyTorch, as installed and tuned
  bool json = false;
  std::string memory;  // as MemoryBudget takes it
  bool brief = false;  // leave out 1 Mi tokens and T = 16384
};

struct Figure {
  std::string name;
  double value;
  std::string unit;
};

// The model that is measured: C=256, 4 heads, 4 blocks, all rows of all blocks used.
ModelConfig engine_config(const std::string& mixer, int64_t length);

// Calls `report` for each figure as soon as it is known.
void bench_engine(const BenchOptions& options, const std::function<void(const Figure&)>& report);

// A whole process that trains two steps of the bench's model, for its peak memory: prints it as
// JSON and returns.
void bench_memory_child(bool recompute);

}  // namespace linnet
