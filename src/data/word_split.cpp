// word_split.cpp -- cuts at blanks and marks; lower case without a locale; counts that are bounded.
#include "data/word_split.h"

#include <algorithm>

#include "core/utf8.h"

namespace linnet {
namespace {

constexpr std::string_view kBlanks = " \t\n\v\f\r";

bool is_mark(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
         (c >= '{' && c <= '~');
}

uint32_t lower(uint32_t c) {
  if (c >= 'A' && c <= 'Z') return c + 32;
  if (c >= 0xc0 && c <= 0xde && c != 0xd7) return c + 32;     // Latin-1
  if (c >= 0x391 && c <= 0x3a9 && c != 0x3a2) return c + 32;  // Greek
  if (c >= 0x410 && c <= 0x42f) return c + 32;                // Cyrillic
  if (c >= 0x400 && c <= 0x40f) return c + 80;
  return c;
}

void append_lower(std::string_view word, std::string& out) {
  while (!word.empty()) {
    const Utf8Character c = decode_utf8(word);
    const size_t length = std::max<size_t>(c.length, 1);
    const uint32_t small = lower(c.code_point);
    if (c.length > 0 && small != c.code_point)
      append_utf8(small, out);
    else
      out += word.substr(0, length);
    word.remove_prefix(length);
  }
}

}  // namespace

bool WordReader::next(std::string_view& word) {
  const size_t begin = rest_.find_first_not_of(kBlanks);
  if (begin == rest_.npos) return false;
  rest_.remove_prefix(begin);
  size_t length = std::min(rest_.find_first_of(kBlanks), rest_.size());
  if (rule_.split_punctuation) {
    const auto mark = std::ranges::find_if(rest_.substr(0, length), is_mark);
    length = std::max<size_t>(static_cast<size_t>(mark - rest_.begin()), 1);
  }
  word = rest_.substr(0, length);
  rest_.remove_prefix(length);
  if (rule_.lower_case) {
    lowered_.clear();
    append_lower(word, lowered_);
    word = lowered_;
  }
  return true;
}

void add_count(WordCounts& counts, std::string_view word, int64_t n) {
  const auto found = counts.find(word);
  if (found != counts.end())
    found->second += n;
  else
    counts.emplace(word, n);
}

void forget_rarest(WordCounts& counts, size_t most) {
  for (int64_t least = 2; counts.size() > most; least *= 2)
    std::erase_if(counts, [&](const auto& entry) { return entry.second < least; });
}

}  // namespace linnet
