// sentencepiece_tokenizer.cpp -- bpe and unigram: SentencePiece learns and applies the pieces;
// every byte string comes back.
//
// Encoding: what SentencePiece keeps as it is (piece_words.h) goes to it word by word, as no piece
// lies across two: rounding of its sums depends on no other word. Other bytes go to the ids of
// their bytes; a character without a piece becomes its bytes as well. Decoding needs
// no library: the text of the pieces in a row, U+2581 being the blank.
//
// Learning: the trainer gets words with counts instead of texts (input format tsv), so its memory
// does not grow with the data; for unigram a word seen twice stands in two lines, since only what
// is repeated in its list becomes a candidate. Its sums depend on how many parts it makes, so that
// number is fixed, and --threads is for the counting of words.
#include <fmt/format.h>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <array>
#include <mutex>

#include "core/error.h"
#include "core/file.h"
#include "data/piece_model.h"
#include "data/piece_words.h"
#include "data/tokenizer.h"
#include "data/tokenizer_json.h"

namespace linnet {
namespace {

constexpr std::string_view kBlank = "\xe2\x96\x81";  // U+2581
constexpr size_t kSliceBytes = 4096;
constexpr int kParts = 4;
constexpr size_t kMostKnown = 1 << 18, kLongestKnown = 64;  // words, bytes of one: some 40 MB

class SentencePieceTokenizer final : public Tokenizer {
 public:
  SentencePieceTokenizer(PieceModel model, std::string_view place)
      : bpe_(model.bpe), file_(piece_model_file(model)) {
    for (size_t id = 0; id < model.pieces.size(); ++id) {
      PieceModel::Piece& piece = model.pieces[id];
      names_.push_back(printable(piece.text));
      if (piece.type == PieceModel::Type::kByte) {
        const int byte = std::stoi(piece.text.substr(1, 4), nullptr, 16);
        byte_ids_[static_cast<size_t>(byte)] = static_cast<int32_t>(id);
        piece.text = static_cast<char>(byte);
      } else if (piece.type == PieceModel::Type::kUnknown) {
        piece.text = "\xef\xbf\xbd";
      }
      size_t at = 0;
      while ((at = piece.text.find(kBlank, at)) != piece.text.npos)
        piece.text.replace(at, kBlank.size(), " ");
      texts_.push_back(std::move(piece.text));
    }
    const auto status = processor_.LoadFromSerializedProto(file_);
    if (!status.ok())
      throw Error(fmt::format("[{}] SentencePiece refuses the model: {}", place,
                              printable(status.message(), 200)));
  }

  std::string_view kind() const override { return bpe_ ? "bpe" : "unigram"; }
  int32_t vocabulary() const override { return static_cast<int32_t>(texts_.size()); }
  void encode(std::string_view text, std::vector<int32_t>& ids) const override {
    while (!text.empty()) {
      const size_t clean = clean_prefix(text, kSliceBytes);
      if (clean == 0) {
        ids.push_back(byte_ids_[static_cast<unsigned char>(text[0])]);
        text.remove_prefix(1);
        continue;
      }
      for (std::string_view run = text.substr(0, clean); !run.empty();) {
        const size_t word = first_word(run);
        encode_word(run.substr(0, word), ids);
        run.remove_prefix(word);
      }
      text.remove_prefix(clean);
    }
  }
  std::string file() const override { return file_; }

 private:
  std::string decode_known(std::span<const int32_t> ids) const override {
    std::string text;
    for (const int32_t id : ids) text += texts_[static_cast<size_t>(id)];
    return text;
  }
  std::string name_of(int32_t id) const override { return names_[static_cast<size_t>(id)]; }

  // Texts are made of the same words again and again: 15 times faster than asking for each.
  void encode_word(std::string_view word, std::vector<int32_t>& ids) const {
    Known& known = known_[static_cast<unsigned char>(word.back()) % known_.size()];
    {
      const std::lock_guard lock(known.mutex);
      if (const auto found = known.words.find(word); found != known.words.end()) {
        ids.insert(ids.end(), found->second.begin(), found->second.end());
        return;
      }
    }
    std::vector<int> part;
    const auto status = processor_.Encode(word, &part);
    if (!status.ok())
      throw Error(fmt::format("[tokenizer] SentencePiece: {}", printable(status.message(), 200)));
    mend_blanks(part);
    ids.insert(ids.end(), part.begin(), part.end());
    const std::lock_guard lock(known.mutex);
    if (known.words.size() < kMostKnown / 4 && word.size() <= kLongestKnown)
      known.words.emplace(word, std::move(part));
  }

  // A blank is U+2581 to the library; where no piece has it, its bytes come, which are no blank.
  void mend_blanks(std::vector<int>& ids) const {
    const std::array<int, 3> blank = {byte_ids_[0xe2], byte_ids_[0x96], byte_ids_[0x81]};
    auto at = ids.begin();
    while ((at = std::search(at, ids.end(), blank.begin(), blank.end())) != ids.end()) {
      *at = byte_ids_[' '];
      ids.erase(at + 1, at + 3);
    }
  }

  // Words and their ids, in parts by their last byte, so that threads seldom wait for each other.
  struct Known {
    std::mutex mutex;
    WordMap<std::vector<int>> words;
  };
  mutable std::array<Known, 16> known_;
  bool bpe_;
  std::string file_;
  std::vector<std::string> texts_, names_;
  std::array<int32_t, 256> byte_ids_{};
  sentencepiece::SentencePieceProcessor processor_;
};

// The lines "word TAB count" for the trainer.
class LineIterator final : public sentencepiece::SentenceIterator {
 public:
  explicit LineIterator(std::vector<std::string> lines) : lines_(std::move(lines)) {}
  bool done() const override { return at_ == lines_.size(); }
  void Next() override { ++at_; }
  const std::string& value() const override { return lines_[at_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  std::vector<std::string> lines_;
  size_t at_ = 0;
};

[[noreturn]] void refuse(const TokenizerOptions& options, std::string_view message) {
  if (message.find("required_chars") != message.npos || message.find("vocab_size") != message.npos)
    throw Error(
        fmt::format("[tokenizer.vocab] {} pieces are too few for 256 bytes, <unk> and the "
                    "characters of the texts; ask for more, or for less coverage",
                    options.vocabulary));
  throw Error(fmt::format("[tokenizer] SentencePiece: {}", printable(message, 200)));
}

std::unique_ptr<Tokenizer> train(const TokenizerKind& kind, const TextSource& texts,
                                 const TokenizerOptions& options) {
  const bool bpe = kind.name == "bpe";
  const std::vector<PieceWord> words = count_piece_words(texts, {}, options);
  std::vector<std::string> lines;
  for (const auto& [word, count] : words) {
    const bool twice = !bpe && count > 1;
    lines.push_back(fmt::format("{}\t{}", word, twice ? count - 1 : count));
    if (twice) lines.push_back(fmt::format("{}\t1", word));
  }
  LineIterator iterator(std::move(lines));
  if (options.progress)
    options.progress(
        fmt::format("learning {} pieces from {} words", options.vocabulary, words.size()));
  std::string file;
  const auto status = sentencepiece::SentencePieceTrainer::Train(
      {
          {"model_type", std::string(kind.name)},
          {"vocab_size", std::to_string(options.vocabulary)},
          {"character_coverage", fmt::format("{}", options.coverage)},
          {"input_format", "tsv"},
          {"normalization_rule_name", "identity"},
          {"add_dummy_prefix", "false"},
          {"remove_extra_whitespaces", "false"},
          {"allow_whitespace_only_pieces", "true"},
          {"byte_fallback", "true"},
          {"hard_vocab_limit", "false"},  // fewer where the texts do not have so many
          {"max_sentence_length", "65536"},
          {"num_threads", std::to_string(kParts)},
          {"bos_id", "-1"},
          {"eos_id", "-1"},
          {"minloglevel", "2"},
      },
      &iterator, &file);
  if (!status.ok()) refuse(options, status.message());
  return std::make_unique<SentencePieceTokenizer>(parse_piece_model(file, kind.name), kind.name);
}

std::unique_ptr<Tokenizer> load(std::string_view content, std::string_view place) {
  return std::make_unique<SentencePieceTokenizer>(parse_piece_model(content, place), place);
}

}  // namespace

extern const TokenizerKind kBpeTokenizer = {
    .name = "bpe",
    .formula = "merges the most frequent pair of neighbours, again and again",
    .cost = "O(bytes log(slice))",
    .paper = "Sennrich et al. 2016; Kudo and Richardson 2018",
    .summary = "byte pair encoding by SentencePiece with byte fallback: any bytes come back",
    .file = kTokenizerModel,
    .reversible = true,
    .train = train,
    .load = load,
};

extern const TokenizerKind kUnigramTokenizer = {
    .name = "unigram",
    .formula = "the most likely row of pieces, product of p(piece), p learnt by EM",
    .cost = "O(bytes)",
    .paper = "Kudo 2018; Kudo and Richardson 2018",
    .summary = "unigram language model by SentencePiece with byte fallback: any bytes come back",
    .file = kTokenizerModel,
    .reversible = true,
    .train = train,
    .load = load,
};

}  // namespace linnet
