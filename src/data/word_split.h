// word_split.h -- the words of a text, their hash and their counts.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace linnet {

struct WordRule {
  bool lower_case = false;         // ASCII, Latin-1, Greek and Cyrillic capitals
  bool split_punctuation = false;  // "good!" is two words: each mark of ASCII is one of its own
  bool operator==(const WordRule&) const = default;
};

// Reads words one by one. They are parted by the blanks of ASCII: space, \t, \n, \v, \f, \r.
class WordReader {
 public:
  WordReader(std::string_view text, const WordRule& rule) : rest_(text), rule_(rule) {}
  // False after the last word. A word holds until the next call.
  bool next(std::string_view& word);

 private:
  std::string_view rest_;
  WordRule rule_;
  std::string lowered_;
};

// FNV-1a of 64 bits, then the finalizer of MurmurHash3, since the low bits of FNV-1a alone are
// weak. Part of the file formats: never changes.
constexpr uint64_t hash_word(std::string_view word) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : word) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccd;
  hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53;
  return hash ^ hash >> 33;
}

struct WordHash {
  using is_transparent = void;
  size_t operator()(std::string_view word) const { return hash_word(word); }
};
// Found by a std::string_view as well.
template <class Value>
using WordMap = std::unordered_map<std::string, Value, WordHash, std::equal_to<>>;

using WordCounts = WordMap<int64_t>;
// Beyond so many distinct words, counts are not kept of all: some 500 MB.
inline constexpr size_t kMaxCountedWords = 4'000'000;

void add_count(WordCounts& counts, std::string_view word, int64_t n);
// Leaves out the words seen once, or below 4, 8, ... times, until there are at most `most`: what is
// left depends on the counts alone.
void forget_rarest(WordCounts& counts, size_t most);

}  // namespace linnet
