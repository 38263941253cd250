// sampled_softmax.cpp -- draws classes, and the loss over them.
#include "train/sampled_softmax.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/random.h"
#include "kernels/rows.h"

namespace linnet {
namespace {

constexpr uint64_t kStream = 0x73616d706c656421;  // apart from dropout, which has the same key

}  // namespace

SampledClasses sample_classes(std::span<const int32_t> targets, int64_t classes, int64_t drawn,
                              uint64_t key) {
  enum : uint8_t { kOut, kTarget, kDrawn };
  std::vector<uint8_t> state(static_cast<size_t>(classes), kOut);
  int64_t others = classes;
  for (const int32_t target : targets) {
    if (target < 0 || state[static_cast<size_t>(target)] == kTarget) continue;
    state[static_cast<size_t>(target)] = kTarget;
    --others;
  }
  if (others <= drawn) return {};
  Random random(key, kStream);
  // At most half is drawn one by one, the rest by leaving out: a draw rarely meets a taken one.
  const bool leave_out = 2 * drawn > others;
  if (leave_out) std::ranges::replace(state, uint8_t{kOut}, uint8_t{kDrawn});
  for (int64_t left = leave_out ? others - drawn : drawn; left > 0;) {
    uint8_t& one = state[random.below(static_cast<uint32_t>(classes))];
    if (one != (leave_out ? kDrawn : kOut)) continue;
    one = leave_out ? kOut : kDrawn;
    --left;
  }
  SampledClasses sampled;
  const double q = static_cast<double>(drawn) / static_cast<double>(others);
  for (int64_t c = 0; c < classes; ++c) {
    if (state[static_cast<size_t>(c)] == kOut) continue;
    sampled.classes.push_back(static_cast<int32_t>(c));
    sampled.shift.push_back(
        state[static_cast<size_t>(c)] == kDrawn ? static_cast<float>(-std::log(q)) : 0.0f);
  }
  return sampled;
}

Score sampled_cross_entropy(const SampledClasses& sampled, std::span<const int32_t> targets,
                            Mat logits) {
  const auto n = static_cast<int64_t>(sampled.classes.size());
  std::vector<int32_t> places;
  for (size_t r = 0; r < targets.size(); ++r) {
    const auto place = std::ranges::lower_bound(sampled.classes, targets[r]);
    LINNET_ASSERT(place != sampled.classes.end() && *place == targets[r]);
    places.push_back(static_cast<int32_t>(place - sampled.classes.begin()));
    add(n, sampled.shift.data(), logits.row(static_cast<int64_t>(r)));
  }
  return token_cross_entropy(static_cast<int64_t>(targets.size()), n, places.data(), 0, logits);
}

}  // namespace linnet
