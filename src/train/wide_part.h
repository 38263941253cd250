// wide_part.h -- fits the wide part of a model (models/wide_table.h) beside its deep part, which is
// trained already.
//
// The table is a naive Bayes regression (naive_bayes.h) on the n-grams of the train part's tokens.
// It knows those texts by heart, so the deep part must not be trained on what it leaves over: both
// are fitted apart, and a deep + b wide is weighed on validation (blend.h). a is kept in the head's
// last layer, b in the table. With strength, a and b chosen, the table is fitted once more, on
// validation too.
#pragma once

#include <functional>
#include <string>

#include "core/context.h"
#include "data/part.h"
#include "models/model.h"

namespace linnet {

// Values of a model with its wide part.
struct WideFit {
  Block on_train;  // alone, so that validation can tell how good it is
  Block on_both;
};

// Values of `whole`, which is `deep` with a wide part. `show`: what it is at; what that throws
// ends it. The same bits every time, on any number of threads. All n-grams of both parts are in
// memory meanwhile.
WideFit fit_wide_part(Context& context, const Model& deep, const float* values, const Model& whole,
                      ExampleStream& train, ExampleStream& validation,
                      const std::function<void(const std::string&)>& show);

}  // namespace linnet
