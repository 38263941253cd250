// word_ngrams.cpp -- hashes the last few words at every word.
#include "data/word_ngrams.h"

#include <algorithm>

#include "data/word_split.h"

namespace linnet {

void word_ngrams(std::string_view text, const WordNgrams& rule, std::vector<uint32_t>& ids) {
  constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;
  ids.clear();
  // Of the n-grams that end at this word, the longest last.
  std::vector<uint64_t> hashes;
  WordReader reader(text, {.lower_case = true, .split_punctuation = true});
  for (std::string_view word; reader.next(word);) {
    const uint64_t hash = hash_word(word);
    // Those that ended at the word before, each with this one behind it.
    if (hashes.size() == static_cast<size_t>(rule.longest)) hashes.pop_back();
    for (uint64_t& h : hashes) h = h * kFactor + hash;
    hashes.insert(hashes.begin(), hash);
    for (const uint64_t h : hashes) ids.push_back(static_cast<uint32_t>(h >> (64 - rule.bits)));
  }
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());  // clang 14 has no subrange
}

}  // namespace linnet
