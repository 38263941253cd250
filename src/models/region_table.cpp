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

void region_tops(const RegionTable& table, const float* params, std::span<const int32_t> ids,
                 int64_t block, float* top, int32_t* at) {
  region_max(params + table.row(block, 0, 0), table.places_of(ids.size()), table.rows, ids, top,
             at);
}

void add_region_logits(const RegionTable& table, const float* params,
                       std::span<const int32_t> tokens, float* logits) {
  std::vector<int32_t> ids;
  region_ids(table, tokens, ids);
  std::vector<double> sums(params + table.out_bias, params + table.out_bias + table.columns);
  for (int64_t block = 0; block < table.blocks(); ++block) {
    float top[kRegionBlock];
    int32_t at[kRegionBlock];
    region_tops(table, params, ids, block, top, at);
    for (int64_t i = 0; i < kRegionBlock; ++i) {
      const int64_t u = block * kRegionBlock + i;
      const float hidden = std::max(0.0f, top[i] + params[table.bias + u]);
      for (size_t c = 0; c < sums.size(); ++c)
        sums[c] += hidden * params[table.out + u * table.columns + static_cast<int64_t>(c)];
    }
  }
  float* first = logits + table.classes - table.columns;
  for (size_t c = 0; c < sums.size(); ++c) first[c] += static_cast<float>(sums[c]);
}

}  // namespace linnet
