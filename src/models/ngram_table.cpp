// ngram_table.cpp -- the hash of n-grams and the sum of their rows.
#include "models/ngram_table.h"

#include <algorithm>

#include "core/error.h"
#include "kernels/rows.h"

namespace linnet {
namespace {

// Odd, so that no token of an n-gram is multiplied away; 2^64 over the golden ratio.
constexpr uint64_t kFactor = 0x9E3779B97F4A7C15u;

}  // namespace

// SplitMix64 (Steele, Lea and Flood, 2014): near numbers become far ones.
uint64_t hash_token(int32_t token) {
  uint64_t z = static_cast<uint64_t>(token) + kFactor;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

NgramTable add_ngram_table(ParamLayout& layout, std::string name, int64_t width, int64_t longest,
                           int64_t buckets) {
  LINNET_ASSERT(longest >= 2 && longest <= kMostNgrams);
  LINNET_ASSERT(buckets >= 1 && buckets <= kMostNgramBuckets);
  NgramTable table{.longest = longest, .buckets = buckets, .width = width};
  table.weight = layout.add_sparse(std::move(name), {buckets, width});
  return table;
}

NgramRows ngram_rows(const NgramTable& table, std::span<const int32_t> tokens, int64_t t) {
  NgramRows found;
  const auto at = [&](int64_t i) { return hash_token(tokens[static_cast<size_t>(i)]); };
  // Written out, h_k = sum_j hash_token(token t-j) factor^j over j < k: one term more for each k.
  uint64_t hash = at(t), power = 1;
  for (int64_t j = 1; j < std::min(table.longest, t + 1); ++j) {
    power *= kFactor;
    hash += at(t - j) * power;
    found.rows[found.count++] =
        static_cast<uint32_t>((hash >> 32) * static_cast<uint64_t>(table.buckets) >> 32);
  }
  return found;
}

void add_ngrams(const NgramTable& table, const float* params, std::span<const int32_t> tokens,
                int64_t t, float* x) {
  for (const uint32_t row : ngram_rows(table, tokens, t))
    add(table.width, params + table.weight + int64_t{row} * table.width, x);
}

}  // namespace linnet
