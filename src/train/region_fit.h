// region_fit.h -- trains the region part of a model (models/region_table.h), from the start and
// without the others.
//
// A text moves only the rows that were the largest of a unit, so with few classes its step costs
// far less than what it takes to find them: Adagrad on the numbers that are met, text by text. The
// units are members that are trained apart, each with an order and dropped tokens of its own, and
// give their mean: it is better than any of them, they need not wait for each other, and the result
// does not depend on the number of threads.
//
// Duchi, Hazan and Singer, "Adaptive subgradient methods", 2011.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/context.h"
#include "models/region_table.h"

namespace linnet {

struct RegionTexts {
  std::vector<std::vector<int32_t>> tokens;
  std::vector<int> labels;
  void add(const RegionTexts& others);
};

// The loss by each unit's top, from the loss by the logits; of those whose hidden is 0 nothing.
void region_backward(const RegionTable& table, const float* params, const RegionState& state,
                     const std::vector<double>& dlogits, std::vector<float>& slope);
// visit(offset, gradient) for all numbers that have one.
template <class Visit>
void visit_region_gradient(const RegionTable& table, const RegionState& state,
                           const std::vector<double>& dlogits, const std::vector<float>& slope,
                           const Visit& visit) {
  const int64_t places = table.places_of(state.ids.size());
  for (int64_t c = 0; c < table.columns; ++c)
    visit(table.out_bias + c, static_cast<float>(dlogits[static_cast<size_t>(c)]));
  for (int64_t u = 0; u < table.units; ++u) {
    const auto unit = static_cast<size_t>(u);
    if (state.hidden[unit] == 0) continue;
    for (int64_t c = 0; c < table.columns; ++c)
      visit(table.out + u * table.columns + c,
            static_cast<float>(state.hidden[unit] * dlogits[static_cast<size_t>(c)]));
    visit(table.bias + u, slope[unit]);
    for (int64_t p = 0; p < places; ++p) {
      const int32_t id = state.ids[static_cast<size_t>(state.at[unit] + p)];
      visit(table.row(u / kRegionBlock, p, id) + u % kRegionBlock, slope[unit]);
    }
  }
}

// The table's numbers in `params`, by the seed. `show`: what it is at, from any thread but one at a
// time; what that throws ends it, and it is not called again.
void fit_regions(Context& context, const RegionTable& table, const RegionTexts& texts,
                 uint64_t seed, float* params, const std::function<void(const std::string&)>& show);

}  // namespace linnet
