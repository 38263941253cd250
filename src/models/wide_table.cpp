// wide_table.cpp -- sums over the n-grams of a text, or of those that two share.
#include "models/wide_table.h"

#include <algorithm>
#include <iterator>

#include "core/error.h"
#include "core/ngram_ids.h"
#include "models/ngram_table.h"

namespace linnet {

namespace {

// Of the hashes that two texts are compared by: in the few bits of a table, thousands of n-grams of
// each would meet others by chance.
constexpr int64_t kSharedBits = 32;

}  // namespace

int64_t wide_columns(int64_t classes) { return classes == 2 ? 1 : classes; }

WideTable add_wide_table(ParamLayout& layout, std::string name, int64_t classes, int64_t longest,
                         int64_t bits) {
  LINNET_ASSERT(longest >= 1 && longest <= kMostNgrams && bits >= 1 && bits <= kMostWideBits);
  WideTable table{.longest = longest,
                  .bits = bits,
                  .columns = wide_columns(classes),
                  .classes = classes,
                  .weight = 0};
  table.weight = layout.add_sparse(std::move(name), {int64_t{1} << bits, table.columns});
  return table;
}

void wide_ngrams(WideTexts texts, int64_t longest, int64_t bits, std::vector<uint32_t>& ids) {
  std::vector<uint32_t> own, both;
  const int hashed = static_cast<int>(texts.size() == 1 ? bits : kSharedBits);
  for (size_t t = 0; t < texts.size(); ++t) {
    NgramIds ngrams(static_cast<int>(longest), hashed, t == 0 ? ids : own);
    for (const int32_t token : texts[t]) ngrams.add(hash_token(token));
    ngrams.finish();
    if (t == 0) continue;
    both.clear();
    std::set_intersection(ids.begin(), ids.end(), own.begin(), own.end(), std::back_inserter(both));
    ids.swap(both);
  }
  if (hashed == bits) return;
  for (uint32_t& id : ids) id >>= hashed - bits;
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

void add_wide_logits(const WideTable& table, const float* params, WideTexts texts, float* logits) {
  std::vector<uint32_t> ids;
  wide_ngrams(texts, table.longest, table.bits, ids);
  // Thousands of terms a class: in double.
  std::vector<double> sums(static_cast<size_t>(table.columns));
  for (const uint32_t id : ids) {
    const float* row = params + table.weight + int64_t{id} * table.columns;
    for (size_t c = 0; c < sums.size(); ++c) sums[c] += row[c];
  }
  float* first = logits + table.classes - table.columns;
  for (size_t c = 0; c < sums.size(); ++c) first[c] += static_cast<float>(sums[c]);
}

}  // namespace linnet
