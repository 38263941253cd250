// tokenizer_fuzz.cpp -- any bytes are a tokenizer that keeps its promises, or one clear Error.
//
//   tokenizer_fuzz tests/fuzz/corpus/tokenizer
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "data/piece_model.h"
#include "data/tokenizer.h"

namespace {

// A message must be short and must not steer a terminal.
void check_message(std::string_view message) {
  LINNET_ASSERT(message.starts_with("[") && message.size() < 1000);
  for (const char c : message) LINNET_ASSERT(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
}

void check_file(std::string_view content) try {
  const auto tokenizer = linnet::parse_tokenizer(content, "fuzz");
  const auto again = linnet::parse_tokenizer(tokenizer->file(), "fuzz");
  LINNET_ASSERT(again->file() == tokenizer->file());
  LINNET_ASSERT(again->vocabulary() == tokenizer->vocabulary());
  // The file itself is a text as hard as any.
  for (const std::string_view text : {content, std::string_view("a b \xff\t\xe2\x96\x81")}) {
    std::vector<int32_t> ids;
    try {
      tokenizer->encode(text, ids);
    } catch (const linnet::Error& error) {
      LINNET_ASSERT(tokenizer->kind() == "listops");
      check_message(error.what());
      continue;
    }
    const std::string back = tokenizer->decode(ids);
    if (linnet::find_tokenizer(tokenizer->kind()).reversible) LINNET_ASSERT(back == text);
    for (const int32_t id : ids) LINNET_ASSERT(!tokenizer->piece(id).empty());
  }
} catch (const linnet::Error& error) {
  check_message(error.what());
}

// A whole SentencePiece file with pieces from the data, since mutations seldom keep 256 bytes: the
// first byte is the kind, then come score, length and text of each piece.
void check_pieces(const uint8_t* data, size_t size) {
  using linnet::PieceModel;
  PieceModel model{.bpe = data[0] % 2 == 0, .pieces = {{"<unk>", 0, PieceModel::Type::kUnknown}}};
  constexpr char kDigits[] = "0123456789ABCDEF";
  for (int byte = 0; byte < 256; ++byte) {
    const char name[] = {'<', '0', 'x', kDigits[byte / 16], kDigits[byte % 16], '>', 0};
    model.pieces.push_back({name, 0, PieceModel::Type::kByte});
  }
  for (size_t at = 1; at + 2 < size;) {
    const float score = -static_cast<float>(data[at]) / 8;
    const size_t length = std::min<size_t>(data[at + 1] % 16, size - at - 2);
    model.pieces.push_back({std::string(reinterpret_cast<const char*>(data) + at + 2, length),
                            score, PieceModel::Type::kNormal});
    at += 2 + length;
  }
  check_file(linnet::piece_model_file(model));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  check_file({reinterpret_cast<const char*>(data), size});
  if (size > 0) check_pieces(data, size);
  return 0;
}
