// words_tokenizer.cpp -- words: frequent words by rank, the others by their hash.
//
// Ids: 0 unknown; 1 .. n the words, the most frequent first; n+1 .. n+buckets the rest, by
// hash_word(word) mod buckets. Without buckets the rest is unknown. The blanks between words are
// not kept.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/error.h"
#include "core/file.h"
#include "core/utf8.h"
#include "data/tokenizer.h"
#include "data/tokenizer_json.h"
#include "data/word_split.h"

namespace linnet {
namespace {

// The id of each word: a table at most half full, in which a word stands at the first free place
// from its hash on. A place holds half of the hash, so that words are compared only where the
// halves agree.
class WordIndex {
 public:
  explicit WordIndex(const std::vector<std::string>& words)
      : places_(std::bit_ceil(2 * words.size() + 1)) {
    for (int32_t id = 1; const std::string& word : words) {
      const uint64_t hash = hash_word(word);
      size_t at = first(hash);
      while (places_[at].id != 0) at = next(at);
      places_[at] = {tag(hash), id++};
    }
  }
  // 0 where the word is not among them.
  int32_t find(const std::vector<std::string>& words, std::string_view word, uint64_t hash) const {
    for (size_t at = first(hash); places_[at].id != 0; at = next(at)) {
      if (places_[at].tag == tag(hash) && words[static_cast<size_t>(places_[at].id) - 1] == word)
        return places_[at].id;
    }
    return 0;
  }

 private:
  struct Place {
    uint32_t tag = 0;
    int32_t id = 0;  // 0: free
  };
  static uint32_t tag(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }
  size_t first(uint64_t hash) const { return hash & (places_.size() - 1); }
  size_t next(size_t at) const { return (at + 1) & (places_.size() - 1); }

  std::vector<Place> places_;
};

class WordsTokenizer final : public Tokenizer {
 public:
  // The words are distinct and valid UTF-8.
  WordsTokenizer(const WordRule& rule, int32_t buckets, std::vector<std::string> words)
      : rule_(rule), buckets_(buckets), words_(std::move(words)), index_(words_) {}

  std::string_view kind() const override { return "words"; }
  int32_t vocabulary() const override { return first_bucket() + buckets_; }
  void encode(std::string_view text, std::vector<int32_t>& ids) const override {
    WordReader reader(text, rule_);
    for (std::string_view word; reader.next(word);) {
      const uint64_t hash = hash_word(word);
      int32_t id = index_.find(words_, word, hash);
      if (id == 0 && buckets_ > 0)
        id = first_bucket() + static_cast<int32_t>(hash % static_cast<uint64_t>(buckets_));
      ids.push_back(id);
    }
  }
  std::string file() const override {
    nlohmann::ordered_json json;
    json["kind"] = kind();
    json["lower_case"] = rule_.lower_case;
    json["split_punctuation"] = rule_.split_punctuation;
    json["buckets"] = buckets_;
    json["words"] = words_;
    return json.dump() + "\n";
  }

 private:
  int32_t first_bucket() const { return static_cast<int32_t>(words_.size()) + 1; }
  std::string decode_known(std::span<const int32_t> ids) const override {
    std::string text;
    for (const int32_t id : ids) {
      if (!text.empty()) text += ' ';
      const bool known = id > 0 && id < first_bucket();
      text += known ? words_[static_cast<size_t>(id) - 1] : "\xef\xbf\xbd";
    }
    return text;
  }
  std::string name_of(int32_t id) const override {
    if (id == 0) return "<unk>";
    if (id >= first_bucket()) return fmt::format("<bucket {}>", id - first_bucket());
    return printable(words_[static_cast<size_t>(id) - 1]);
  }

  WordRule rule_;
  int32_t buckets_;
  std::vector<std::string> words_;
  WordIndex index_;
};

std::unique_ptr<Tokenizer> train(const TokenizerKind&, const TextSource& texts,
                                 const TokenizerOptions& options) {
  const WordRule rule{options.lower_case, options.split_punctuation};
  WordCounts counts;
  int64_t rows = 0;
  for (std::string text; texts(text);) {
    WordReader reader(text, rule);
    for (std::string_view word; reader.next(word);) {
      if (is_utf8(word)) add_count(counts, word, 1);  // JSON holds no other
    }
    if (++rows % 1024 == 0) {
      forget_rarest(counts, kMaxCountedWords);
      if (options.progress)
        options.progress(fmt::format("{} texts, {} distinct words", rows, counts.size()));
    }
  }
  if (counts.empty()) throw Error("[tokenizer] there is no word in the texts to learn from");
  std::vector<std::pair<int64_t, std::string_view>> order;
  for (const auto& [word, count] : counts)
    if (count >= options.min_count) order.emplace_back(-count, word);
  std::ranges::sort(order);
  const auto most = static_cast<size_t>(options.vocabulary - options.buckets - 1);
  order.resize(std::min(order.size(), most));
  std::vector<std::string> words;
  for (const auto& [count, word] : order) words.emplace_back(word);
  return std::make_unique<WordsTokenizer>(rule, options.buckets, std::move(words));
}

std::unique_ptr<Tokenizer> load(std::string_view content, std::string_view place) {
  const auto json =
      parse_tokenizer_json(content, place, {"lower_case", "split_punctuation", "buckets", "words"});
  const WordRule rule{flag_field(json, "lower_case", place),
                      flag_field(json, "split_punctuation", place)};
  const auto buckets =
      static_cast<int32_t>(integer_field(json, "buckets", 0, kMaxVocabulary, place));
  std::vector<std::string> words;
  for (const auto& value : list_field(json, "words", place)) {
    if (!value.is_string() || value.get_ref<const std::string&>().empty())
      throw Error(fmt::format("[{}] \"words\" number {} is no word", place, words.size() + 1));
    words.push_back(value.get<std::string>());
  }
  std::vector<std::string_view> sorted(words.begin(), words.end());
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end())
    throw Error(fmt::format("[{}] \"words\" has a word twice", place));
  return std::make_unique<WordsTokenizer>(rule, buckets, std::move(words));
}

}  // namespace

extern const TokenizerKind kWordsTokenizer = {
    .name = "words",
    .formula = "id = rank of the word, or n + 1 + hash(word) mod buckets",
    .cost = "O(bytes)",
    .paper = "Joulin et al. 2017, fastText",
    .summary = "words between blanks with a frequency cut; the rest hashed into buckets",
    .file = kTokenizerJson,
    .reversible = false,
    .train = train,
    .load = load,
};

}  // namespace linnet
