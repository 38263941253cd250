// features.cpp -- the list of feature maps: one line a kind.
#include "core/registry.h"
#include "features/feature.h"

namespace linnet {

extern const Feature kSoftplusFeature, kElu1Feature;

std::span<const Feature* const> features() {
  static constexpr const Feature* kList[] = {
      &kSoftplusFeature,
      &kElu1Feature,
  };
  return kList;
}

const Feature& find_feature(std::string_view name) { return find_in(features(), "phi", name); }

}  // namespace linnet
