// features.cpp -- the list of stages of feature maps: one line a kind.
#include "core/registry.h"
#include "features/feature.h"

namespace linnet {

extern const Feature kSoftplusFeature, kOrthogonalSoftplusFeature, kGluFeature, kOgluFeature,
    kAogluFeature, kLinearFeature, kNormFeature, kElu1Feature, kReluFeature, kSigmoidFeature,
    kGeluFeature, kSquaresFeature, kRelu2Feature, kBilinearFeature, kFavorFeature, kTaylorFeature,
    kHedgehogFeature, kDpfpFeature;

std::span<const Feature* const> features() {
  static constexpr const Feature* kList[] = {
      &kSoftplusFeature, &kOrthogonalSoftplusFeature,
      &kGluFeature,      &kOgluFeature,
      &kAogluFeature,    &kLinearFeature,
      &kNormFeature,     &kElu1Feature,
      &kReluFeature,     &kSigmoidFeature,
      &kGeluFeature,     &kSquaresFeature,
      &kRelu2Feature,    &kBilinearFeature,
      &kFavorFeature,    &kTaylorFeature,
      &kHedgehogFeature, &kDpfpFeature,
  };
  return kList;
}

const Feature& find_feature(std::string_view name) { return find_in(features(), "phi", name); }

}  // namespace linnet
