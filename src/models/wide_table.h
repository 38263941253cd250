// wide_table.h -- the wide part of a model: a weight a class for every n-gram of tokens that a text
// has, whatever the place; of two texts, for every one that both have.
//
//   logits_c += sum_g U[id(g), c]   over the distinct ids of its n-grams g of 1 .. n tokens
// Two classes need one column: it is added to the second. Only token numbers are hashed
// (ngram_table.h), so inference needs no text. Nothing is trained by gradients: train/side_parts.h
// fits it.
//
// Cheng et al., "Wide & deep learning for recommender systems", 2016, for the two parts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "layers/params.h"

namespace linnet {

inline constexpr int64_t kMostWideBits = 26;

struct WideTable {
  int64_t longest = 0;  // n; 0: there is no table
  int64_t bits = 0;     // 2^bits ids
  int64_t columns = 0, classes = 0;
  int64_t weight = 0;  // offset in the parameter block: [2^bits, columns]
};

int64_t wide_columns(int64_t classes);
WideTable add_wide_table(ParamLayout& layout, std::string name, int64_t classes, int64_t longest,
                         int64_t bits);

// The texts of one example.
using WideTexts = std::span<const std::span<const int32_t>>;

// The ids of the n-grams that all of the texts have, ascending, each once. Two texts are compared
// by longer hashes than ids are.
void wide_ngrams(WideTexts texts, int64_t longest, int64_t bits, std::vector<uint32_t>& ids);

// logits [classes] += what the texts add.
void add_wide_logits(const WideTable& table, const float* params, WideTexts texts, float* logits);

}  // namespace linnet
