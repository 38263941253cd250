// bench_polynomial.h -- what each layer can fit, on forms of a known degree.
#pragma once

#include <cstdint>

namespace linnet {

struct BenchPolynomialOptions {
  int seeds = 3;
  int64_t steps = 1500;
  bool json = false;
};

// A table of test accuracies, layers by degrees; with json one object a run.
void bench_polynomial(const BenchPolynomialOptions& options);

}  // namespace linnet
