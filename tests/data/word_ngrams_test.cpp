// word_ngrams_test.cpp -- words are cut and lowered as said, and hashes stay what they are.
#include "data/word_ngrams.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/error.h"

namespace linnet {
namespace {

std::vector<std::string> words(std::string_view text, const WordRule& rule) {
  std::vector<std::string> found;
  WordReader reader(text, rule);
  for (std::string_view word; reader.next(word);) found.emplace_back(word);
  return found;
}

TEST(WordSplitTest, BlanksMarksAndCapitals) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(words("  Don't  stop,\tnow\n", {}), (Words{"Don't", "stop,", "now"}));
  EXPECT_EQ(words("Don't (STOP)!!", {.lower_case = true, .split_punctuation = true}),
            (Words{"don", "'", "t", "(", "stop", ")", "!", "!"}));
  EXPECT_EQ(words("\xc3\x89T\xc3\x89 \xce\xa9 \xd0\x96\xd0\x81 \xc3\x97 \xff"
                  "A",
                  {.lower_case = true}),
            (Words{"\xc3\xa9t\xc3\xa9", "\xcf\x89", "\xd0\xb6\xd1\x91", "\xc3\x97",
                   "\xff"
                   "a"}));
  EXPECT_EQ(words("", {}), Words{});
  EXPECT_EQ(words(" \t\r\n\v\f", {}), Words{});
  EXPECT_EQ(words(std::string_view("a\0b", 3), {}), Words{std::string("a\0b", 3)});
}

// By Python, from the definition in the header.
TEST(WordNgramsTest, HashesAreFixed) {
  EXPECT_EQ(hash_word(""), 0xefd01f60ba992926u);
  EXPECT_EQ(hash_word("the"), 0xcb3ff435b889fb31u);
  std::vector<uint32_t> ids;
  word_ngrams("The cat SAT.", {.n = 3, .buckets = 1000}, ids);
  EXPECT_EQ(ids, (std::vector<uint32_t>{793, 597, 167, 928, 467, 772, 70, 254, 808}));
}

TEST(WordNgramsTest, OrderMattersAndBucketsHold) {
  std::vector<uint32_t> ab, ba, one;
  word_ngrams("a b", {.n = 2}, ab);
  word_ngrams("b a", {.n = 2}, ba);
  ASSERT_EQ(ab.size(), 3u);
  EXPECT_EQ(ab[0], ba[1]);
  EXPECT_NE(ab[2], ba[2]);
  word_ngrams("a b c d e", {.n = 5, .buckets = 1}, one);
  EXPECT_EQ(one, std::vector<uint32_t>(15, 0));
  // 2,000 words over 1 M buckets: about two pairs meet, far from the hundreds of a weak hash.
  std::set<uint32_t> distinct;
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "w" + std::to_string(i) + " ";
  std::vector<uint32_t> ids;
  word_ngrams(text, {.n = 1}, ids);
  distinct.insert(ids.begin(), ids.end());
  EXPECT_GT(distinct.size(), 1990u);
  EXPECT_LT(*distinct.rbegin(), 1u << 20);
}

TEST(WordNgramsTest, WrongRulesAreNamed) {
  std::vector<uint32_t> ids;
  EXPECT_THROW(word_ngrams("a", {.n = 0}, ids), Error);
  EXPECT_THROW(word_ngrams("a", {.n = 9}, ids), Error);
  EXPECT_THROW(word_ngrams("a", {.buckets = 0}, ids), Error);
}

}  // namespace
}  // namespace linnet
