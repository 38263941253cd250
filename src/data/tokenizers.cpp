// tokenizers.cpp -- the list of tokenizers: one line a kind; and what all kinds share.
#include <fmt/format.h>

#include "core/error.h"
#include "core/file.h"
#include "core/registry.h"
#include "data/tokenizer.h"
#include "data/tokenizer_json.h"

namespace linnet {

namespace fs = std::filesystem;

extern const TokenizerKind kBytesTokenizer, kCharsTokenizer, kWordsTokenizer, kBpeTokenizer,
    kUnigramTokenizer, kListopsTokenizer;

std::span<const TokenizerKind* const> tokenizers() {
  static constexpr const TokenizerKind* kList[] = {
      &kBytesTokenizer, &kCharsTokenizer,   &kWordsTokenizer,
      &kBpeTokenizer,   &kUnigramTokenizer, &kListopsTokenizer,
  };
  return kList;
}

const TokenizerKind& find_tokenizer(std::string_view name) {
  return find_in(tokenizers(), "tokenizer", name);
}

std::string Tokenizer::decode(std::span<const int32_t> ids) const {
  for (const int32_t id : ids) {
    if (id < 0 || id >= vocabulary())
      throw Error(fmt::format("[tokenizer id {}] ids are 0 to {}", id, vocabulary() - 1));
  }
  return decode_known(ids);
}

std::string Tokenizer::piece(int32_t id) const {
  if (id < 0 || id >= vocabulary())
    throw Error(fmt::format("[tokenizer id {}] ids are 0 to {}", id, vocabulary() - 1));
  return name_of(id);
}

std::unique_ptr<Tokenizer> train_tokenizer(std::string_view kind, const TextSource& texts,
                                           const TokenizerOptions& options) {
  const TokenizerKind& record = find_tokenizer(kind);
  const auto need = [](bool good, std::string_view field, auto value, std::string_view what) {
    if (!good) throw Error(fmt::format("[tokenizer.{}] must be {}: {}", field, what, value));
  };
  need(options.vocabulary >= 2 && options.vocabulary <= kMaxVocabulary, "vocab", options.vocabulary,
       fmt::format("from 2 to {}", kMaxVocabulary));
  need(options.coverage >= 0.98 && options.coverage <= 1, "coverage", options.coverage,
       "from 0.98 to 1");
  need(options.min_count >= 1, "min_count", options.min_count, "at least 1");
  need(options.buckets >= 0 && options.buckets < options.vocabulary, "buckets", options.buckets,
       "at least 0 and below the vocabulary");
  if (record.train == nullptr)
    return record.load(fmt::format("{{\"kind\": \"{}\"}}", record.name), record.name);
  return record.train(record, texts, options);
}

std::unique_ptr<Tokenizer> parse_tokenizer(std::string_view content, std::string_view place) {
  // A SentencePiece file starts with the tag of its first piece, 0x0a.
  if (!content.starts_with('{')) return kBpeTokenizer.load(content, place);
  const std::string kind = tokenizer_json_kind(content, place);
  for (const TokenizerKind* record : tokenizers()) {
    if (record->name == kind && record->file == kTokenizerJson) return record->load(content, place);
  }
  throw Error(fmt::format("[{}] no such kind of tokenizer: \"{}\"", place, printable(kind)));
}

std::unique_ptr<Tokenizer> load_tokenizer(const fs::path& path) {
  fs::path file = path;
  std::error_code error;
  if (fs::is_directory(path, error)) {
    file = path / kTokenizerJson;
    if (!fs::exists(file, error)) file = path / kTokenizerModel;
    if (!fs::exists(file, error))
      throw Error(fmt::format("[{}] the folder has neither {} nor {}", place_of(path),
                              kTokenizerJson, kTokenizerModel));
  }
  return parse_tokenizer(read_file(file, kMaxTokenizerFile), place_of(file));
}

void save_tokenizer(const Tokenizer& tokenizer, const fs::path& folder) {
  const std::string_view file = find_tokenizer(tokenizer.kind()).file;
  write_file(folder / file, tokenizer.file());
  // After the write: a failure of that leaves the old tokenizer as it was.
  std::error_code error;
  fs::remove(folder / (file == kTokenizerJson ? kTokenizerModel : kTokenizerJson), error);
}

}  // namespace linnet
