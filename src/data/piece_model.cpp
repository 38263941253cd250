// piece_model.cpp -- the few parts of protobuf that a SentencePiece file needs.
#include "data/piece_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <unordered_set>

#include "core/error.h"
#include "core/file.h"
#include "core/utf8.h"
#include "data/tokenizer_json.h"

namespace linnet {
namespace {

static_assert(std::endian::native == std::endian::little);

// Fields of the messages.
enum : uint32_t { kPieces = 1, kTrainer = 2, kNormalizer = 3, kSamples = 4, kDenormalizer = 5 };
enum : uint32_t { kText = 1, kScore = 2, kType = 3 };
enum : uint32_t { kModelType = 3, kVocabulary = 4, kSuffixBlanks = 24, kByteFallback = 35 };
enum : uint32_t { kUnknownId = 40, kBeginId = 41, kEndId = 42, kPaddingId = 43 };
enum : uint32_t { kRuleName = 1, kRules = 2, kDummyPrefix = 3, kDropBlanks = 4, kEscape = 5 };
// How a value is written.
enum : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

constexpr uint64_t kUnigram = 1, kBpe = 2;  // values of kModelType
constexpr size_t kMaxPieceBytes = 2048;     // four bytes for each of the 512 characters it allows
constexpr float kMaxScore = 1e6f;           // sums of scores stay far from the end of float

class MessageReader {
 public:
  MessageReader(std::string_view content, std::string_view place) : rest_(content), place_(place) {}

  // The next field: its number in `field`, its value in `number` or `bytes`. False at the end.
  bool next() {
    if (rest_.empty()) return false;
    const uint64_t tag = varint();
    field = static_cast<uint32_t>(std::min<uint64_t>(tag >> 3, UINT32_MAX));
    form = tag & 7;
    number = 0;
    bytes = {};
    if (form == kVarint) {
      number = varint();
    } else if (form == kFixed32 || form == kFixed64) {
      bytes = take(form == kFixed32 ? 4 : 8);
    } else if (form == kBytes) {
      bytes = take(varint());
    } else {
      fail("is no SentencePiece model: wrong form of a field");
    }
    return true;
  }
  void need_form(uint32_t expected) const {
    if (form != expected) fail("is no SentencePiece model: wrong form of a field");
  }
  bool flag() const {
    need_form(kVarint);
    return number != 0;
  }
  float real() const {
    need_form(kFixed32);
    float value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::string_view text() const {
    need_form(kBytes);
    return bytes;
  }
  [[noreturn]] void fail(std::string_view what) const {
    throw Error(fmt::format("[{}] {}", place_, what));
  }

  uint32_t field = 0;
  uint64_t form = 0, number = 0;
  std::string_view bytes;

 private:
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_[0]);
      rest_.remove_prefix(1);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    fail("is no SentencePiece model, or is cut short");
  }
  std::string_view take(uint64_t size) {
    if (size > rest_.size()) fail("is no SentencePiece model, or is cut short");
    const std::string_view part = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return part;
  }

  std::string_view rest_, place_;
};

// What the settings of a file say, before its first field: the defaults of the .proto.
struct Settings {
  uint64_t model_type = kUnigram;
  bool byte_fallback = false, suffix_blanks = false;
  bool dummy_prefix = true, drop_blanks = true, escape = true, rules = false;

  void read_trainer(MessageReader reader) {
    while (reader.next()) {
      if (reader.field == kModelType) model_type = (reader.need_form(kVarint), reader.number);
      if (reader.field == kByteFallback) byte_fallback = reader.flag();
      if (reader.field == kSuffixBlanks) suffix_blanks = reader.flag();
    }
  }
  void read_normalizer(MessageReader reader) {
    while (reader.next()) {
      if (reader.field == kRules) rules = !reader.text().empty();
      if (reader.field == kDummyPrefix) dummy_prefix = reader.flag();
      if (reader.field == kDropBlanks) drop_blanks = reader.flag();
      if (reader.field == kEscape) escape = reader.flag();
    }
  }
};

PieceModel::Piece read_piece(MessageReader reader) {
  PieceModel::Piece piece;
  uint64_t type = static_cast<uint64_t>(PieceModel::Type::kNormal);
  while (reader.next()) {
    if (reader.field == kText) piece.text = reader.text();
    if (reader.field == kScore) piece.score = reader.real();
    if (reader.field == kType) type = (reader.need_form(kVarint), reader.number);
  }
  const std::string& text = piece.text;
  if (text.empty() || text.size() > kMaxPieceBytes || !is_utf8(text) ||
      text.find('\0') != text.npos)
    reader.fail(fmt::format("a piece must be 1 to {} bytes of UTF-8: \"{}\"", kMaxPieceBytes,
                            printable(text)));
  if (!std::isfinite(piece.score) || std::abs(piece.score) > kMaxScore)
    reader.fail(
        fmt::format("piece \"{}\" has a score that is no number in range", printable(text)));
  piece.type = static_cast<PieceModel::Type>(type);
  switch (piece.type) {
    case PieceModel::Type::kNormal:
    case PieceModel::Type::kUnknown:
    case PieceModel::Type::kByte:
      return piece;
  }
  reader.fail(fmt::format("piece \"{}\" is a control or user-defined symbol; linnet has none",
                          printable(text)));
}

void check_pieces(const PieceModel& model, std::string_view place) {
  const auto fail = [&](std::string_view what) {
    throw Error(fmt::format("[{}] {}", place, what));
  };
  std::unordered_set<std::string_view> seen;
  int unknown = 0, bytes = 0, normal = 0;
  for (const PieceModel::Piece& piece : model.pieces) {
    if (!seen.insert(piece.text).second)
      fail(fmt::format("piece \"{}\" is there twice", printable(piece.text)));
    unknown += piece.type == PieceModel::Type::kUnknown;
    bytes += piece.type == PieceModel::Type::kByte;
    normal += piece.type == PieceModel::Type::kNormal;
    // Its name could else be met in a text.
    if (piece.type == PieceModel::Type::kUnknown && piece.text != "<unk>")
      fail("the unknown piece must be \"<unk>\"");
  }
  if (unknown != 1) fail("must have one unknown piece");
  for (int byte = 0; byte < 256; ++byte) {
    const std::string name = fmt::format("<0x{:02X}>", byte);
    const auto found = std::ranges::find(model.pieces, name, &PieceModel::Piece::text);
    if (found == model.pieces.end() || found->type != PieceModel::Type::kByte || bytes != 256)
      fail("must have one piece for each of the 256 bytes");
  }
  if (normal == 0) fail("has no pieces but bytes");
}

class MessageWriter {
 public:
  void put(uint32_t field, uint64_t value) {
    varint(field << 3 | kVarint);
    varint(value);
  }
  void put(uint32_t field, float value) {
    varint(field << 3 | kFixed32);
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    out.append(bytes, sizeof value);
  }
  void put(uint32_t field, std::string_view value) {
    varint(field << 3 | kBytes);
    varint(value.size());
    out += value;
  }
  std::string out;

 private:
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
    out += static_cast<char>(value);
  }
};

}  // namespace

PieceModel parse_piece_model(std::string_view content, std::string_view place) {
  PieceModel model;
  Settings settings;
  MessageReader reader(content, place);
  while (reader.next()) {
    if (reader.field < kPieces || reader.field > kDenormalizer)
      reader.fail("is no SentencePiece model: a field that it does not have");
    const MessageReader part(reader.text(), place);
    if (reader.field == kPieces) model.pieces.push_back(read_piece(part));
    if (model.pieces.size() > static_cast<size_t>(kMaxVocabulary))
      reader.fail(fmt::format("has more than {} pieces", kMaxVocabulary));
    if (reader.field == kTrainer) settings.read_trainer(part);
    if (reader.field == kNormalizer) settings.read_normalizer(part);
  }
  if (model.pieces.empty()) reader.fail("is no SentencePiece model: it has no pieces");
  if (settings.model_type != kUnigram && settings.model_type != kBpe)
    reader.fail("is a SentencePiece model, but neither bpe nor unigram");
  if (!settings.byte_fallback || settings.suffix_blanks || settings.dummy_prefix ||
      settings.drop_blanks || !settings.escape || settings.rules)
    reader.fail(
        "is a SentencePiece model that changes texts; linnet takes those with byte fallback, the "
        "identity rule, no dummy prefix and no removal of blanks");
  model.bpe = settings.model_type == kBpe;
  check_pieces(model, place);
  return model;
}

std::string piece_model_file(const PieceModel& model) {
  constexpr uint64_t kNone = UINT64_MAX;  // -1 as protobuf writes it
  MessageWriter file, trainer, normalizer;
  uint64_t unknown = 0;
  for (const PieceModel::Piece& piece : model.pieces) {
    MessageWriter part;
    part.put(kText, std::string_view(piece.text));
    part.put(kScore, piece.score);
    part.put(kType, static_cast<uint64_t>(piece.type));
    file.put(kPieces, std::string_view(part.out));
    if (piece.type == PieceModel::Type::kUnknown)
      unknown = static_cast<uint64_t>(&piece - model.pieces.data());
  }
  trainer.put(kModelType, model.bpe ? kBpe : kUnigram);
  trainer.put(kVocabulary, uint64_t{model.pieces.size()});
  trainer.put(kByteFallback, uint64_t{1});
  trainer.put(kUnknownId, unknown);
  for (const uint32_t id : {kBeginId, kEndId, kPaddingId}) trainer.put(id, kNone);
  file.put(kTrainer, std::string_view(trainer.out));
  normalizer.put(kRuleName, std::string_view("identity"));
  normalizer.put(kDummyPrefix, uint64_t{0});
  normalizer.put(kDropBlanks, uint64_t{0});
  normalizer.put(kEscape, uint64_t{1});
  file.put(kNormalizer, std::string_view(normalizer.out));
  return std::move(file.out);
}

}  // namespace linnet
