// tokenizer.h -- text to ids and back: a kind is a record, a tokenizer an object that never
// changes.
//
// Ids are 0 .. vocabulary()-1. A tokenizer is one file of a model folder, tokenizer.json or
// tokenizer.model; such a file may come from anybody, and a wrong one is an Error with its place.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace linnet {

// Safe to use from several threads at once.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  virtual std::string_view kind() const = 0;
  virtual int32_t vocabulary() const = 0;
  // Appends the ids of any bytes, valid UTF-8 or not. Only listops refuses a text.
  virtual void encode(std::string_view text, std::vector<int32_t>& ids) const = 0;
  // The text of the ids; of a reversible kind, byte for byte the text that was encoded. What has no
  // text is U+FFFD. An id outside the vocabulary is an Error.
  std::string decode(std::span<const int32_t> ids) const;
  // The name of an id for people, fit for a terminal.
  std::string piece(int32_t id) const;
  // The content of its file.
  virtual std::string file() const = 0;

 private:
  virtual std::string decode_known(std::span<const int32_t> ids) const = 0;
  virtual std::string name_of(int32_t id) const = 0;
};

// Gives the texts to learn from one by one, and false after the last.
using TextSource = std::function<bool(std::string& text)>;

struct TokenizerOptions {
  int32_t vocabulary = 8192;       // bpe, unigram, chars, words: at most so many ids in all
  int threads = 0;                 // 0: one for each core; the result is the same for any number
  double coverage = 0.9999;        // bpe, unigram: share of the characters that have a piece
  bool lower_case = false;         // words
  bool split_punctuation = false;  // words: each mark of ASCII is a word
  int64_t min_count = 2;           // words: rarer ones have no id of their own
  int32_t buckets = 0;             // words: the rest goes by its hash to so many ids
  std::function<void(const std::string& note)> progress;  // what is being done, in few words
};

struct TokenizerKind {
  std::string_view name, formula, cost, paper, summary;
  std::string_view file;  // its name in a model folder
  bool reversible;        // decode(encode(x)) == x for all bytes x
  // Null where nothing is learnt: `load` of {"kind": NAME} is the tokenizer then.
  std::unique_ptr<Tokenizer> (*train)(const TokenizerKind&, const TextSource&,
                                      const TokenizerOptions&);
  // From the content of its file; the place is for errors.
  std::unique_ptr<Tokenizer> (*load)(std::string_view content, std::string_view place);
};

std::span<const TokenizerKind* const> tokenizers();
const TokenizerKind& find_tokenizer(std::string_view name);

// Impossible options are an Error, and so are texts with nothing in them.
std::unique_ptr<Tokenizer> train_tokenizer(std::string_view kind, const TextSource& texts,
                                           const TokenizerOptions& options);

// The kind is found in the content.
std::unique_ptr<Tokenizer> parse_tokenizer(std::string_view content, std::string_view place);
// From its file, or from a model folder.
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& path);
// To a model folder, instead of the one that is there.
void save_tokenizer(const Tokenizer& tokenizer, const std::filesystem::path& folder);

}  // namespace linnet
