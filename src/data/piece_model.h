// piece_model.h -- the file of SentencePiece (tokenizer.model) read and written by ourselves, so
// that the library never sees a foreign byte.
//
// The file is the protobuf message ModelProto of sentencepiece_model.proto, version 0.1.97:
// pieces = 1 {piece = 1, score = 2, type = 3}, trainer_spec = 2, normalizer_spec = 3. The library's
// own reader refuses garbage, but takes a table of normalization rules from the file as a trie
// without a check of its links, runs itself on samples in the file, and lets settings through that
// change texts. So a file is read here, only pieces, scores and the kind are taken, and the library
// is given a new file with our settings. Files of other settings are refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace linnet {

struct PieceModel {
  enum class Type { kNormal = 1, kUnknown = 2, kByte = 6 };  // numbers of the file
  struct Piece {
    std::string text;  // blanks as U+2581; "<unk>"; "<0x0A>"
    float score = 0;
    Type type = Type::kNormal;
  };
  bool bpe = false;  // else unigram
  std::vector<Piece> pieces;
};

// Promises: all texts are different, not empty, UTF-8 without a zero byte, scores are finite; one
// piece is unknown, each byte has one. Anything else is an Error.
PieceModel parse_piece_model(std::string_view content, std::string_view place);

// The same model always gives the same bytes. Other programs with SentencePiece can read them.
std::string piece_model_file(const PieceModel& model);

}  // namespace linnet
