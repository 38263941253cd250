// word_ngrams.h -- hashed n-grams of words: the order of words for models without any, as in
// fastText.
//
// Joulin et al., "Bag of tricks for efficient text classification", 2017. The n-gram of words
// w_1 .. w_k has the hash h_1 = hash_word(w_1), h_k = h_(k-1) * 116049371 + hash_word(w_k) (mod
// 2^64), and the id (h_k >> 32) * buckets >> 32: the high half, spread over the buckets. fastText
// has the same recursion over its own 32-bit hash of a word, so its ids are others.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "data/word_split.h"

namespace linnet {

struct WordNgramRule {
  int n = 2;  // n-grams of 1 to n words
  uint32_t buckets = 1u << 20;
  WordRule words{.lower_case = true, .split_punctuation = true};
};

// An n or a number of buckets below 1, or an n above 8, is an Error.
void check_word_ngrams(const WordNgramRule& rule);

// Appends the ids, each in 0 .. buckets-1: for every word, in order, the n-grams that end with it,
// the shortest first. Words that are equal give equal ids, so counts are kept.
void word_ngrams(std::string_view text, const WordNgramRule& rule, std::vector<uint32_t>& ids);

}  // namespace linnet
