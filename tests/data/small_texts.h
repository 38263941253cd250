// small_texts.h -- texts to learn tokenizers from in tests, and texts that are hard to give back.
#pragma once

#include <string>
#include <vector>

#include "core/random.h"
#include "core/utf8.h"
#include "data/listops.h"
#include "data/tokenizer.h"

namespace linnet {

// Words over a few syllables, so that there are pieces to find; some rows of many blanks and lines.
inline std::vector<std::string> small_texts(int rows = 400, uint64_t seed = 1) {
  constexpr const char* kSyllables[] = {"ba", "no", "tri", "la", "ing", "est", "\xc3\xa9t", "o"};
  Random random(seed);
  std::vector<std::string> texts;
  for (int row = 0; row < rows; ++row) {
    std::string& text = texts.emplace_back();
    for (uint32_t word = random.below(30) + 1; word > 0; --word) {
      for (uint32_t n = random.below(4) + 1; n > 0; --n)
        text += kSyllables[random.below(2) ? random.below(3) : random.below(8)];
      text += random.below(8) == 0 ? ", " : random.below(20) == 0 ? "\n\n  " : " ";
    }
  }
  return texts;
}

inline TextSource source_of(const std::vector<std::string>& texts) {
  return [&texts, at = size_t{0}](std::string& text) mutable {
    if (at == texts.size()) return false;
    text = texts[at++];
    return true;
  };
}

inline std::vector<std::string> nasty_texts() {
  using namespace std::string_literals;
  std::vector<std::string> texts = {
      "",
      " ",
      "  ",
      "   a   b   ",
      "\t",
      "a\tb\t\tc",
      "\n",
      "\r\n\r\n",
      "a\nb\r\nc\n",
      "\0"s,
      "a\0b\0\0c"s,
      "\xff\xfe",
      "caf\xc3",
      "\xc3\xa9 caf\xc3\xa9",
      "\xed\xa0\x80 surrogate",
      "\xc0\x80 overlong",
      "\xe2\x96\x81 the blank of SentencePiece",
      "a\xe2\x96\x81\xe2\x96\x81z",
      "\xe2\x96\x85 its unknown",
      "\xe2\x96 cut \xe2",
      "\xef\xbf\xbd replacement",
      "\xef\xbb\xbf byte order mark",
      "<unk> <s> </s> <pad> <0x41> <0x0A> \xe2\x81\x87",
      "\xe2\x80\x8b\xe2\x80\xae\xc2\xa0\xe3\x80\x80 odd blanks",
      "e\xcc\x81 combining, \xef\xac\x81 ligature, \xe2\x91\xa0 circled, \xef\xbc\xa1 wide",
      "\xf0\x9f\x90\xa6\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7",
      "\x01\x02\x7f\x1b[31m",
      std::string(10000, 'a'),
      std::string(10000, ' '),
      std::string(9000, '\xe2'),
  };
  std::string long_word;
  for (int i = 0; i < 5000; ++i) append_utf8(0x4e00 + static_cast<uint32_t>(i), long_word);
  texts.push_back(long_word);
  // Random bytes, alone and among words.
  Random random(7);
  for (int i = 0; i < 300; ++i) {
    std::string& text = texts.emplace_back();
    for (uint32_t n = random.below(60); n > 0; --n) {
      if (i % 2 == 0)
        text += static_cast<char>(random.below(256));
      else
        append_utf8(random.below(4) ? random.below(128) : random.below(0xd800), text);
    }
  }
  return texts;
}

// A small tokenizer of any kind.
inline std::unique_ptr<Tokenizer> small_tokenizer(std::string_view kind, int threads = 1) {
  const std::vector<std::string> texts = small_texts();
  TokenizerOptions options;
  options.vocabulary = 340;
  options.threads = threads;
  options.buckets = 16;
  return train_tokenizer(kind, source_of(texts), options);
}

}  // namespace linnet
