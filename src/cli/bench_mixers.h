// bench_mixers.h -- time and memory of every token mixer over the length, and what each phi costs.
#pragma once

#include <string>
#include <vector>

namespace linnet {

struct BenchMixersOptions {
  std::vector<std::string> mixers;  // empty: all
  int64_t longest = 65536;
  double limit = 8;    // seconds: a kind stops where its next length would take longer
  int rounds = 3;      // measurements of each, taking turns; the best counts
  std::string memory;  // as MemoryBudget takes it: a kind stops where its next length needs more
  bool json = false;
};

// One row a kind: microseconds a token at T = 256, 512, ..., growth above 4096, crossover with
// softmax; then training speed of the phis of Table 1. With json one object a line as it is
// measured.
void bench_mixers(const BenchMixersOptions& options);

}  // namespace linnet
