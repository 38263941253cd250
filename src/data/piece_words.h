// piece_words.h -- what of a text SentencePiece may see, and the counts of its words to learn from.
//
// SentencePiece 0.1.97, identity rule, byte fallback: it turns each byte that is not UTF-8 into
// U+FFFD, U+2581 into a blank, stops words at a zero byte, and keeps U+2585 and the tab for itself
// in training (a sentence with U+2585 is left out). Everything else comes back as it was; a test
// tries every code point. So these bytes go round it, each to the id of its byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizer.h"
#include "data/word_split.h"

namespace linnet {

// How many bytes at the start of the text may go to SentencePiece; 0 when the first byte may not.
// At most `limit`, then cut between words where there are two, as no piece lies across that place:
// time and memory stay linear.
size_t clean_prefix(std::string_view text, size_t limit);
// How many bytes the first word has, with the blanks before it.
size_t first_word(std::string_view text);

struct PieceWord {
  std::string text;  // with the blanks before it, as they are
  int64_t count = 0;
};

struct PieceWordLimits {
  size_t counted = kMaxCountedWords;  // the rarest of more distinct words are forgotten
  size_t kept = 500'000;              // the most frequent of them, which are learnt from
  size_t word_bytes = 1024;           // longer ones are cut: SentencePiece counts places in 16 bits
};

// The most frequent first, equals by their bytes. The result depends on the texts alone: rows are
// counted in batches of fixed size, whatever the number of threads.
std::vector<PieceWord> count_piece_words(const TextSource& texts, const PieceWordLimits& limits,
                                         const TokenizerOptions& options);

}  // namespace linnet
