// word_ngrams_test.cpp -- hashed word n-grams: which there are, and that each is there once.
#include "data/word_ngrams.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/data/small_texts.h"

namespace linnet {
namespace {

std::vector<uint32_t> ids_of(const std::string& text, int longest, int bits = 24) {
  std::vector<uint32_t> ids = {7};  // what was there before is forgotten
  word_ngrams(text, {.longest = longest, .bits = bits}, ids);
  return ids;
}

// The id of one n-gram: what its words alone have beyond those with one word less.
uint32_t id_of(const std::string& words, int n) {
  std::vector<uint32_t> longer = ids_of(words, n), shorter = n > 1 ? ids_of(words, n - 1) : longer;
  if (n == 1) return longer.at(0);
  std::vector<uint32_t> rest;
  std::ranges::set_difference(longer, shorter, std::back_inserter(rest));
  return rest.at(0);
}

TEST(WordNgramsTest, OnceAndInOrder) {
  const std::vector<uint32_t> ids = ids_of("a b a b", 3);
  std::vector<uint32_t> expected = {id_of("a", 1),   id_of("b", 1),     id_of("a b", 2),
                                    id_of("b a", 2), id_of("a b a", 3), id_of("b a b", 3)};
  std::ranges::sort(expected);
  EXPECT_EQ(ids, expected);
  EXPECT_EQ(ids_of("A  b\na\tB", 3), ids);
  EXPECT_NE(id_of("a b", 2), id_of("b a", 2));
  EXPECT_EQ(ids_of("good!", 1), ids_of("! good", 1));
  EXPECT_TRUE(ids_of(" \n ", 3).empty());
}

TEST(WordNgramsTest, FewerBitsAreTheHighOnes) {
  for (const std::string& text : small_texts(50)) {
    std::vector<uint32_t> expected = ids_of(text, 3, 24);
    for (uint32_t& id : expected) id >>= 14;
    expected.erase(std::ranges::unique(expected).begin(), expected.end());
    EXPECT_EQ(ids_of(text, 3, 10), expected);
  }
}

}  // namespace
}  // namespace linnet
