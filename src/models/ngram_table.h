// ngram_table.h -- hashed n-grams of tokens as rows of one table: the order of near tokens, for any
// model.
//
// Forward, for the k-grams of k = 2 .. n tokens that end at token t and lie within the sequence:
//   x_t += sum_k N[row(h_k)],   h_1 = hash(w_1), h_k = h_(k-1) * factor + hash(w_k)  (mod 2^64)
// for the tokens w_1 .. w_k of the k-gram, and row(h) = (h >> 32) * buckets >> 32: the high half,
// spread over the buckets. Only token numbers are hashed, so words, pieces, bytes and symbols are
// all the same to it, and inference needs no text.
// Backward: each row at t is owed dx_t, which depends on no value of the table. So the table may
// start as zeros, as the model without it, and its gradient is as sparse as the tokens are:
// train/sparse_adagrad.h keeps it.
//
// Joulin et al., "Bag of tricks for efficient text classification", 2017, for words and averages;
// here it is a sum, since the blocks normalise what they get.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "layers/params.h"

namespace linnet {

inline constexpr int64_t kMostNgrams = 8;
inline constexpr int64_t kMostNgramBuckets = int64_t{1} << 24;

// Of a token by itself; not zero for token 0, whose n-grams would else be those without it.
uint64_t hash_token(int32_t token);

struct NgramTable {
  int64_t longest = 0;  // n; 0: there is no table
  int64_t buckets = 0, width = 0;
  int64_t weight = 0;  // offset in the parameter block: [buckets, width]
};

NgramTable add_ngram_table(ParamLayout& layout, std::string name, int64_t width, int64_t longest,
                           int64_t buckets);

// The rows of the k-grams that end at token t, k = 2 first; fewer near the start.
struct NgramRows {
  std::array<uint32_t, kMostNgrams - 1> rows;
  size_t count = 0;
  auto begin() const { return rows.begin(); }
  auto end() const { return rows.begin() + count; }
};
NgramRows ngram_rows(const NgramTable& table, std::span<const int32_t> tokens, int64_t t);

// x [width] += the rows of token t.
void add_ngrams(const NgramTable& table, const float* params, std::span<const int32_t> tokens,
                int64_t t, float* x);

}  // namespace linnet
