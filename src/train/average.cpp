// average.cpp -- the mean, parameter by parameter.
#include "train/average.h"

#include <algorithm>

#include "kernels/rows.h"

namespace linnet {

Average::Average(const ParamLayout& layout, double decay, const float* values)
    : layout_(layout), decay_(decay), mean_(layout.floats()) {
  std::copy_n(values, mean_.size(), mean_.data());
}

void Average::update(Context& context, int64_t step, const float* values) {
  const auto s = static_cast<double>(step);
  const auto share = static_cast<float>(1 - std::min(decay_, (1 + s) / (10 + s)));
  const auto& specs = layout_.specs();
  context.parallel(static_cast<int64_t>(specs.size()), [&](int64_t i, int) {
    const ParamSpec& spec = specs[static_cast<size_t>(i)];
    if (spec.sparse) return;
    const float* from = values + spec.offset;
    float* to = mean_.data() + spec.offset;
    if (spec.learned) {
      approach(spec.size(), share, from, to);
    } else {
      std::copy_n(from, spec.size(), to);
    }
  });
}

}  // namespace linnet
