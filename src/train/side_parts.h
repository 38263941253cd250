// side_parts.h -- fits what stands beside the deep part of a model, which is trained already: its
// wide part (models/wide_table.h) and its region part (models/region_table.h).
//
// The wide part is a naive Bayes regression (naive_bayes.h) on the n-grams of the train part's
// tokens, the region part is trained on the same texts (region_fit.h). Both know them by heart, so
// the deep part must not be trained on what they leave over: all are fitted apart, and the weights
// of their sum are found on validation (blend.h). They are kept in the last layer of each part.
// With strength and weights chosen, the parts at the side are fitted once more, on validation too.
#pragma once

#include <functional>
#include <string>

#include "core/context.h"
#include "data/part.h"
#include "models/model.h"

namespace linnet {

// Values of a model with its parts at the side.
struct SideFit {
  Block on_train;  // alone, so that validation can tell how good it is
  Block on_both;
};

// Values of `whole`, which is `deep` with parts at its side. `show`: what it is at; what that
// throws ends it. The same bits every time, on any number of threads. All tokens and n-grams of
// both data parts are in memory meanwhile.
SideFit fit_side_parts(Context& context, const Model& deep, const float* values, const Model& whole,
                       ExampleStream& train, ExampleStream& validation, uint64_t seed,
                       const std::function<void(const std::string&)>& show);

}  // namespace linnet
