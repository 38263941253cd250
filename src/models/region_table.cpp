// region_table.cpp -- what the units see in a text.
#include "models/region_table.h"

#include <algorithm>

#include "core/error.h"
#include "models/wide_table.h"

namespace linnet {

int64_t RegionTable::places_of(size_t tokens) const {
  return std::min(places, static_cast<int64_t>(tokens));
}

RegionTable add_region_table(ParamLayout& layout, const std::string& name, int64_t classes,
                             int64_t places, int64_t rows, int64_t units) {
  LINNET_ASSERT(places >= 1 && places <= kMostRegionTokens && units % kRegionBlock == 0);
  RegionTable table{.places = places,
                    .rows = rows,
                    .units = units,
                    .columns = wide_columns(classes),
                    .classes = classes};
  table.weight = layout.add_sparse(name + ".weight", {table.blocks(), places, rows, kRegionBlock});
  table.bias = layout.add_sparse(name + ".bias", {units});
  table.out = layout.add_sparse(name + ".out.weight", {units, table.columns});
  table.out_bias = layout.add_sparse(name + ".out.bias", {table.columns});
  return table;
}

void region_ids(const RegionTable& table, std::span<const int32_t> tokens,
                std::vector<int32_t>& ids) {
  ids.resize(tokens.size());
  std::ranges::transform(tokens, ids.begin(),
                         [&](int32_t token) { return token < table.rows ? token : 0; });
}

std::vector<double> region_forward(const RegionTable& table, const float* params,
                                   RegionState& state) {
  const int64_t places = table.places_of(state.ids.size());
  std::vector<double> logits(params + table.out_bias, params + table.out_bias + table.columns);
  for (int64_t first = 0; first < table.units; first += kRegionBlock) {
    float top[kRegionBlock];
    region_max(params + table.row(first / kRegionBlock, 0, 0), places, table.rows, state.ids, top,
               state.at.data() + first);
    for (int64_t i = 0; i < kRegionBlock; ++i) {
      const float hidden = std::max(0.0f, top[i] + params[table.bias + first + i]);
      state.hidden[static_cast<size_t>(first + i)] = hidden;
      if (hidden == 0) continue;
      const float* out = params + table.out + (first + i) * table.columns;
      for (size_t c = 0; c < logits.size(); ++c) logits[c] += double{hidden} * double{out[c]};
    }
  }
  return logits;
}

void add_region_logits(const RegionTable& table, const float* params,
                       std::span<const int32_t> tokens, float* logits) {
  RegionState state(table);
  region_ids(table, tokens, state.ids);
  const std::vector<double> sums = region_forward(table, params, state);
  float* first = logits + table.classes - table.columns;
  for (size_t c = 0; c < sums.size(); ++c) first[c] += static_cast<float>(sums[c]);
}

}  // namespace linnet
