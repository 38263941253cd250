// region_table.h -- the region part of a model: units that look for something that some tokens in a
// row say, wherever it stands.
//
//   top_u     = max_t sum_{p < n} T[p, token_(t+p), u]   over the text's regions of n tokens
//   logits_c += b_c + sum_u max(0, top_u + a_u) O[u, c]
// It is a convolution of n tokens with a row of its own for each token at each place, so that
// nothing is multiplied. Tokens from `rows` on have the row of token 0; a text of fewer than n
// tokens is one region, without the places that it has not. Two classes need one column: it is
// added to the second. Nothing is trained by Trainer: train/region_fit.h fits it.
//
// Johnson and Zhang, "Effective use of word order for text categorization with convolutional neural
// networks", 2015.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/region_max.h"
#include "layers/params.h"

namespace linnet {

inline constexpr int64_t kMostRegionTokens = 8;
inline constexpr int64_t kMostRegionNumbers = int64_t{1} << 29;  // of T and of O

struct RegionTable {
  int64_t places = 0;  // n; 0: there is no table
  int64_t rows = 0, units = 0, columns = 0, classes = 0;
  // Offsets in the parameter block. T: [units / kRegionBlock, n, rows, kRegionBlock].
  int64_t weight = 0, bias = 0, out = 0, out_bias = 0;

  int64_t blocks() const { return units / kRegionBlock; }
  // The row of a token at a place, of one block of units.
  int64_t row(int64_t block, int64_t place, int64_t id) const {
    return weight + ((block * places + place) * rows + id) * kRegionBlock;
  }
  // Of a text of so many tokens.
  int64_t places_of(size_t tokens) const;
};

// The names of its tensors begin with `name`.
RegionTable add_region_table(ParamLayout& layout, const std::string& name, int64_t classes,
                             int64_t places, int64_t rows, int64_t units);

// The tokens as rows of the table.
void region_ids(const RegionTable& table, std::span<const int32_t> tokens,
                std::vector<int32_t>& ids);
// What the units see in one text: the first token of each one's region, and max(0, top + a).
struct RegionState {
  explicit RegionState(const RegionTable& table)
      : at(static_cast<size_t>(table.units)), hidden(at.size()) {}
  std::vector<int32_t> ids, at;
  std::vector<float> hidden;
};
// From the ids; the columns' logits.
std::vector<double> region_forward(const RegionTable& table, const float* params,
                                   RegionState& state);
// logits [classes] += what the tokens add.
void add_region_logits(const RegionTable& table, const float* params,
                       std::span<const int32_t> tokens, float* logits);

}  // namespace linnet
