// log_count_ratio.cpp -- counts features by class.
#include "train/log_count_ratio.h"

#include <cmath>
#include <numeric>

#include "core/error.h"

namespace linnet {

ClassCounts::ClassCounts(int classes, size_t features, RatioOf of)
    : classes_(classes),
      of_(of),
      counts_(static_cast<size_t>(classes) * features),
      totals_(features),
      examples_(static_cast<size_t>(classes)) {}

void ClassCounts::add(std::span<const uint32_t> features, int label) {
  LINNET_ASSERT(label >= 0 && label < classes_);
  ++examples_[static_cast<size_t>(label)];
  uint32_t* counts = counts_.data() + static_cast<size_t>(label) * totals_.size();
  for (const uint32_t feature : features) {
    ++counts[feature];
    ++totals_[feature];
  }
}

std::pair<double, double> ClassCounts::norms(int c, double smoothing) const {
  double inside = 0, outside = 0;
  if (of_ == RatioOf::examples) {
    inside = 2 * smoothing + examples_[static_cast<size_t>(c)];
    outside = 4 * smoothing + std::accumulate(examples_.begin(), examples_.end(), 0.0) - inside;
    return {inside, outside};
  }
  const uint32_t* counts = counts_.data() + static_cast<size_t>(c) * totals_.size();
  for (size_t i = 0; i < totals_.size(); ++i) {
    if (totals_[i] == 0) continue;
    inside += smoothing + counts[i];
    outside += smoothing + (totals_[i] - counts[i]);
  }
  return {inside, outside};
}

std::vector<float> ClassCounts::log_ratios(int c, double smoothing) const {
  const uint32_t* counts = counts_.data() + static_cast<size_t>(c) * totals_.size();
  const auto [inside, outside] = norms(c, smoothing);
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
