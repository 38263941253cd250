// word_ngrams.cpp -- hashes of the n-grams that end with each word.
#include "data/word_ngrams.h"

#include <fmt/format.h>

#include <array>

#include "core/error.h"

namespace linnet {
namespace {

constexpr int kMaxWords = 8;
constexpr uint64_t kFactor = 116049371;

}  // namespace

void check_word_ngrams(const WordNgramRule& rule) {
  if (rule.n < 1 || rule.n > kMaxWords)
    throw Error(fmt::format("[word_ngrams.n] must be from 1 to {}: {}", kMaxWords, rule.n));
  if (rule.buckets < 1) throw Error("[word_ngrams.buckets] must be at least 1");
}

void word_ngrams(std::string_view text, const WordNgramRule& rule, std::vector<uint32_t>& ids) {
  check_word_ngrams(rule);
  // recent[k]: the hash of the last k + 1 words.
  std::array<uint64_t, kMaxWords> recent{};
  int known = 0;
  WordReader reader(text, rule.words);
  for (std::string_view word; reader.next(word);) {
    const uint64_t hash = hash_word(word);
    if (known < rule.n) ++known;
    for (int k = known - 1; k > 0; --k)
      recent[static_cast<size_t>(k)] = recent[static_cast<size_t>(k) - 1] * kFactor + hash;
    recent[0] = hash;
    for (int k = 0; k < known; ++k)
      ids.push_back(
          static_cast<uint32_t>((recent[static_cast<size_t>(k)] >> 32) * rule.buckets >> 32));
  }
}

}  // namespace linnet
