// log_count_ratio.h -- how much more often each feature stands in one class than in the others.
//
// Over the examples of class c, and over all others, with f_i the 0 or 1 of a feature:
//   p = smoothing + sum f_i,  q = smoothing + sum f_i,  r = log((p / |p|_1) / (q / |q|_1))
// The norms are over the features that were seen; a feature that was never seen has r = 0.
//
// Wang and Manning, "Baselines and bigrams: simple, good sentiment and topic classification", 2012.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace linnet {

class ClassCounts {
 public:
  ClassCounts(int classes, size_t features);
  // One example: its features, each once.
  void add(std::span<const uint32_t> features, int label);
  // r of every feature, for class c against the others.
  std::vector<float> log_ratios(int c, double smoothing) const;
  int classes() const { return classes_; }
  size_t features() const { return totals_.size(); }

 private:
  int classes_;
  std::vector<uint32_t> counts_;  // [classes, features]
  std::vector<uint32_t> totals_;  // [features]
};

}  // namespace linnet
