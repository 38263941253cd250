// measure.cpp -- medians, repetition and the gate.
#include "cli/measure.h"

#include <unistd.h>

#include <algorithm>

#include "cli/terminal.h"
#include "kernels/gemm.h"

namespace linnet {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

double best(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

double repeat(double seconds, double tokens, const std::function<void()>& step) {
  const auto start = Clock::now();
  for (int64_t n = 1;; ++n) {
    step();
    const double spent = seconds_since(start);
    if (spent + 0.5 * spent / static_cast<double>(n) >= seconds)
      return tokens * static_cast<double>(n) / spent;
  }
}

double Gate::peak() {
  std::vector<double> flops(static_cast<size_t>(context_.threads()));
  context_.parallel(context_.threads(), [&](int64_t task, int) {
    flops[static_cast<size_t>(task)] = peak_flops(0.15);
  });
  double total = 0;
  for (double f : flops) total += f;
  best_ = std::max(best_, total);
  return total;
}

Gate::Measured Gate::measure(const std::function<double()>& work, int attempts) {
  Measured result;
  double quietest = -1;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    usleep(300000);  // idle threads of a rival stop spinning
    const double before = peak(), rate = work(), after = peak(), lowest = std::min(before, after);
    if (lowest > quietest) {
      quietest = lowest;
      result = {rate, 0.5 * (before + after)};
    }
    if (lowest >= 0.95 * best_) break;
  }
  return result;
}

}  // namespace linnet
