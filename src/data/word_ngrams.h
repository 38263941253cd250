// word_ngrams.h -- the word n-grams of a text as numbers of a hashed table, each once.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace linnet {

struct WordNgrams {
  int longest = 3;
  int bits = 22;  // ids are below 2^bits
  size_t buckets() const { return size_t{1} << bits; }
};

// In lower case, marks as words of their own; an item is hash_word of one (core/ngram_ids.h).
void word_ngrams(std::string_view text, const WordNgrams& rule, std::vector<uint32_t>& ids);

}  // namespace linnet
