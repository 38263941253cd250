// word_split.cpp -- cuts at blanks and marks; lower case without a locale; counts that are bounded.
#include "data/word_split.h"

#include <algorithm>
#include <array>

#include "core/utf8.h"

namespace linnet {
namespace {

enum class Kind : uint8_t { letter, blank, mark };

// Of every byte, so that a word is cut in one walk.
constexpr std::array<Kind, 256> kKinds = [] {
  std::array<Kind, 256> kinds{};
  for (const char c : std::string_view(" \t\n\v\f\r")) kinds[static_cast<size_t>(c)] = Kind::blank;
  for (size_t c = '!'; c <= '~'; ++c) {
    const bool letter = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (!letter) kinds[c] = Kind::mark;
  }
  return kinds;
}();

Kind kind_of(char c) { return kKinds[static_cast<unsigned char>(c)]; }

uint32_t lower(uint32_t c) {
  if (c >= 'A' && c <= 'Z') return c + 32;
  if (c >= 0xc0 && c <= 0xde && c != 0xd7) return c + 32;     // Latin-1
  if (c >= 0x391 && c <= 0x3a9 && c != 0x3a2) return c + 32;  // Greek
  if (c >= 0x410 && c <= 0x42f) return c + 32;                // Cyrillic
  if (c >= 0x400 && c <= 0x40f) return c + 80;
  return c;
}

void lower_word(std::string_view word, std::string& out) {
  out.resize(word.size());
  size_t ascii = 0;
  for (; ascii < word.size() && static_cast<unsigned char>(word[ascii]) < 0x80; ++ascii)
    out[ascii] = static_cast<char>(lower(static_cast<unsigned char>(word[ascii])));
  out.resize(ascii);
  word.remove_prefix(ascii);
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
  size_t begin = 0;
  while (begin < rest_.size() && kind_of(rest_[begin]) == Kind::blank) ++begin;
  if (begin == rest_.size()) return false;
  const auto cuts = [&](char c) {
    const Kind kind = kind_of(c);
    return kind == Kind::blank || (kind == Kind::mark && rule_.split_punctuation);
  };
  size_t end = begin + 1;
  if (!cuts(rest_[begin]))
    while (end < rest_.size() && !cuts(rest_[end])) ++end;
  word = rest_.substr(begin, end - begin);
  rest_.remove_prefix(end);
  if (rule_.lower_case) {
    lower_word(word, lowered_);
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
