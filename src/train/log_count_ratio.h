// log_count_ratio.h -- how much more often each feature stands in one class than in the others.
//
// Over the examples of class c, and over all others, with f_i the 0 or 1 of a feature:
//   p = smoothing + sum f_i,  q = smoothing + sum f_i,  r = log((p / |p|_1) / (q / |q|_1))
// The norms are over the features that were seen; a feature that was never seen has r = 0.
// Of what two texts share, that there is much of it says most, and these norms would take it out:
// there p and q are shares of the examples, with (2 smoothing + examples) instead of the norms.
//
// Wang and Manning, "Baselines and bigrams: simple, good sentiment and topic classification", 2012.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace linnet {

enum class RatioOf { features, examples };  // what p and q are shares of

class ClassCounts {
 public:
  ClassCounts(int classes, size_t features, RatioOf of = RatioOf::features);
  // One example: its features, each once.
  void add(std::span<const uint32_t> features, int label);
  // r of every feature, for class c against the others.
  std::vector<float> log_ratios(int c, double smoothing) const;
  int classes() const { return classes_; }
  size_t features() const { return totals_.size(); }

 private:
  // What the counts of class c, and of the others, are divided by.
  std::pair<double, double> norms(int c, double smoothing) const;

  int classes_;
  RatioOf of_;
  std::vector<uint32_t> counts_;    // [classes, features]
  std::vector<uint32_t> totals_;    // [features]
  std::vector<uint32_t> examples_;  // [classes]
};

}  // namespace linnet
