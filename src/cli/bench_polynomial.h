// bench_polynomial.h -- what each layer can fit, on forms of a known degree.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace linnet {

struct BenchPolynomialOptions {
  int seeds = 3;
  int64_t steps = 1500;
  std::vector<std::string> layers;  // only these; none: all
  bool json = false;
};

// "LAYER" or "LAYER, PLACE": names that options.layers may have.
std::vector<std::string> polynomial_layers();

// A table of test accuracies, layers by degrees; with json one object a run.
void bench_polynomial(const BenchPolynomialOptions& options);

}  // namespace linnet
