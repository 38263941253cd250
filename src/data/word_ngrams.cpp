// word_ngrams.cpp -- the words of a text into n-grams.
#include "data/word_ngrams.h"

#include "core/ngram_ids.h"
#include "data/word_split.h"

namespace linnet {

void word_ngrams(std::string_view text, const WordNgrams& rule, std::vector<uint32_t>& ids) {
  NgramIds ngrams(rule.longest, rule.bits, ids);
  WordReader reader(text, {.lower_case = true, .split_punctuation = true});
  for (std::string_view word; reader.next(word);) ngrams.add(hash_word(word));
  ngrams.finish();
}

}  // namespace linnet
