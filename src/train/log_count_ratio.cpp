// log_count_ratio.cpp -- counts features by class.
#include "train/log_count_ratio.h"

#include <cmath>

#include "core/error.h"

namespace linnet {

ClassCounts::ClassCounts(int classes, size_t features)
    : classes_(classes), counts_(static_cast<size_t>(classes) * features), totals_(features) {}

void ClassCounts::add(std::span<const uint32_t> features, int label) {
  LINNET_ASSERT(label >= 0 && label < classes_);
  uint32_t* counts = counts_.data() + static_cast<size_t>(label) * totals_.size();
  for (const uint32_t feature : features) {
    ++counts[feature];
    ++totals_[feature];
  }
}

std::vector<float> ClassCounts::log_ratios(int c, double smoothing) const {
  const uint32_t* counts = counts_.data() + static_cast<size_t>(c) * totals_.size();
  double inside = 0, outside = 0;  // |p|_1, |q|_1
  for (size_t i = 0; i < totals_.size(); ++i) {
    if (totals_[i] == 0) continue;
    inside += smoothing + counts[i];
    outside += smoothing + (totals_[i] - counts[i]);
  }
  std::vector<float> ratios(totals_.size());
  for (size_t i = 0; i < totals_.size(); ++i) {
    if (totals_[i] == 0) continue;
    const double p = (smoothing + counts[i]) / inside;
    const double q = (smoothing + (totals_[i] - counts[i])) / outside;
    ratios[i] = static_cast<float>(std::log(p / q));
  }
  return ratios;
}

}  // namespace linnet
