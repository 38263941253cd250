// piece_words.cpp -- counts words in batches, so that memory stays flat for any length of the data.
#include "data/piece_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/context.h"
#include "core/error.h"
#include "core/utf8.h"

namespace linnet {
namespace {

constexpr size_t kBatchBytes = size_t{8} << 20;
constexpr int64_t kParts = 16;  // of a batch, for the threads

void count_text(std::string_view text, size_t word_bytes, WordCounts& counts) {
  while (!text.empty()) {
    const size_t clean = clean_prefix(text, word_bytes);
    std::string_view run = text.substr(0, clean);
    text.remove_prefix(std::max<size_t>(clean, 1));
    while (!run.empty()) {
      const size_t word = first_word(run);
      add_count(counts, run.substr(0, word), 1);
      run.remove_prefix(word);
    }
  }
}

}  // namespace

size_t clean_prefix(std::string_view text, size_t limit) {
  size_t at = 0, word = 0;  // word: where the last one starts, with its blanks
  while (at < text.size()) {
    const auto [c, length] = decode_utf8(text.substr(at));
    if (length == 0 || c == 0 || c == '\t' || c == 0x2581 || c == 0x2585) return at;
    if (c == ' ' && at > 0 && text[at - 1] != ' ') word = at;
    if (at + length > limit) return word > 0 ? word : at;
    at += length;
  }
  return at;
}

size_t first_word(std::string_view text) {
  const size_t letter = std::min(text.find_first_not_of(' '), text.size());
  return std::min(text.find(' ', letter), text.size());
}

std::vector<PieceWord> count_piece_words(const TextSource& texts, const PieceWordLimits& limits,
                                         const TokenizerOptions& options) {
  Context context(options.threads);
  WordCounts counts;
  std::vector<std::string> batch;
  int64_t rows = 0;
  size_t bytes = 0;
  for (bool more = true; more;) {
    batch.clear();
    size_t size = 0;
    for (std::string text; size < kBatchBytes && (more = texts(text));) {
      size += text.size() + 1;  // empty texts must fill a batch, too
      batch.push_back(std::move(text));
    }
    std::vector<WordCounts> parts(kParts);
    context.parallel(kParts, [&](int64_t part, int) {
      const auto n = static_cast<int64_t>(batch.size());
      for (int64_t i = n * part / kParts; i < n * (part + 1) / kParts; ++i)
        count_text(batch[static_cast<size_t>(i)], limits.word_bytes,
                   parts[static_cast<size_t>(part)]);
    });
    for (const WordCounts& part : parts)
      for (const auto& [word, count] : part) add_count(counts, word, count);
    forget_rarest(counts, limits.counted);
    rows += static_cast<int64_t>(batch.size());
    bytes += size - batch.size();
    if (options.progress)
      options.progress(fmt::format("{} texts, {:.1f} MB, {} distinct words", rows,
                                   static_cast<double>(bytes) * 1e-6, counts.size()));
  }
  if (counts.empty()) throw Error("[tokenizer] there is nothing in the texts to learn from");
  std::vector<PieceWord> words;
  for (const auto& [word, count] : counts) words.push_back({word, count});
  std::ranges::sort(words, [](const PieceWord& a, const PieceWord& b) {
    return a.count != b.count ? a.count > b.count : a.text < b.text;
  });
  words.resize(std::min(words.size(), limits.kept));
  return words;
}

}  // namespace linnet
