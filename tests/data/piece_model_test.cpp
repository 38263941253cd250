// piece_model_test.cpp -- files of SentencePiece: what is written is read, all else is refused.
#include "data/piece_model.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sentencepiece_processor.h>

#include <cmath>

#include "core/error.h"
#include "tests/data/small_texts.h"

namespace linnet {
namespace {

PieceModel small_model() {
  PieceModel model{.bpe = true, .pieces = {}};
  model.pieces.push_back({"<unk>", 0, PieceModel::Type::kUnknown});
  for (int byte = 0; byte < 256; ++byte)
    model.pieces.push_back({fmt::format("<0x{:02X}>", byte), 0, PieceModel::Type::kByte});
  for (const char* text : {"ab", "\xe2\x96\x81", "a", "b"})
    model.pieces.push_back({text, -static_cast<float>(model.pieces.size()), {}});
  model.pieces.back().type = PieceModel::Type::kNormal;
  for (size_t i = 257; i < model.pieces.size(); ++i)
    model.pieces[i].type = PieceModel::Type::kNormal;
  return model;
}

std::string refusal(const std::string& content) {
  try {
    parse_piece_model(content, "m");
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

std::string refusal(const PieceModel& model) { return refusal(piece_model_file(model)); }

// A field with bytes in it.
std::string field(int number, const std::string& bytes) {
  return std::string(1, static_cast<char>(number << 3 | 2)) + static_cast<char>(bytes.size()) +
         bytes;
}

TEST(PieceModelTest, WrittenIsRead) {
  for (const bool bpe : {true, false}) {
    PieceModel model = small_model();
    model.bpe = bpe;
    const PieceModel again = parse_piece_model(piece_model_file(model), "m");
    EXPECT_EQ(again.bpe, bpe);
    ASSERT_EQ(again.pieces.size(), model.pieces.size());
    for (size_t i = 0; i < model.pieces.size(); ++i) {
      EXPECT_EQ(again.pieces[i].text, model.pieces[i].text);
      EXPECT_EQ(again.pieces[i].score, model.pieces[i].score);
      EXPECT_EQ(again.pieces[i].type, model.pieces[i].type);
    }
  }
}

// Other programs see the same ids where they get the same text.
TEST(PieceModelTest, SentencePieceItselfReadsTheFile) {
  for (const char* kind : {"bpe", "unigram"}) {
    const auto tokenizer = small_tokenizer(kind);
    sentencepiece::SentencePieceProcessor processor;
    ASSERT_TRUE(processor.LoadFromSerializedProto(tokenizer->file()).ok());
    EXPECT_EQ(processor.GetPieceSize(), tokenizer->vocabulary());
    for (const std::string& text : small_texts(30, 8)) {
      std::vector<int32_t> ids;
      tokenizer->encode(text, ids);
      EXPECT_EQ(processor.EncodeAsIds(text), std::vector<int>(ids.begin(), ids.end()));
      EXPECT_EQ(processor.DecodeIds(std::vector<int>(ids.begin(), ids.end())), text);
    }
  }
}

TEST(PieceModelTest, AnyCutIsRefused) {
  const std::string file = piece_model_file(small_model());
  for (size_t size = 0; size < file.size(); ++size)
    ASSERT_TRUE(refusal(file.substr(0, size)).starts_with("[m] ")) << size;
  EXPECT_EQ(refusal(file), "accepted");
}

TEST(PieceModelTest, WrongPiecesAreNamed) {
  const auto with = [](auto change) {
    PieceModel model = small_model();
    change(model.pieces);
    return refusal(model);
  };
  using Pieces = std::vector<PieceModel::Piece>;
  EXPECT_NE(with([](Pieces& p) { p.push_back(p.back()); }).find("twice"), std::string::npos);
  EXPECT_NE(with([](Pieces& p) { p.back().text = ""; }).find("1 to 2048"), std::string::npos);
  EXPECT_NE(with([](Pieces& p) { p.back().text = std::string(2049, 'a'); }).find("1 to 2048"),
            std::string::npos);
  EXPECT_NE(with([](Pieces& p) { p.back().text = "\xff"; }).find("UTF-8"), std::string::npos);
  EXPECT_NE(with([](Pieces& p) { p.back().text = std::string("a\0", 2); }).find("UTF-8"),
            std::string::npos);
  EXPECT_NE(with([](Pieces& p) { p.back().score = NAN; }).find("score"), std::string::npos);
  EXPECT_NE(with([](Pieces& p) { p.back().score = -1e30f; }).find("score"), std::string::npos);
  EXPECT_NE(
      with([](Pieces& p) { p.back().type = static_cast<PieceModel::Type>(3); }).find("control"),
      std::string::npos);
  EXPECT_NE(with([](Pieces& p) { p.erase(p.begin() + 9); }).find("256 bytes"), std::string::npos);
  EXPECT_NE(with([](Pieces& p) { p[9].type = PieceModel::Type::kNormal; }).find("256 bytes"),
            std::string::npos);
  EXPECT_NE(with([](Pieces& p) { p.back().type = PieceModel::Type::kByte; }).find("256 bytes"),
            std::string::npos);
  EXPECT_NE(with([](Pieces& p) { p.erase(p.begin()); }).find("one unknown"), std::string::npos);
  EXPECT_NE(with([](Pieces& p) { p[0].text = "a"; }).find("<unk>"), std::string::npos);
  EXPECT_NE(with([](Pieces& p) { p.resize(257); }).find("but bytes"), std::string::npos);
}

TEST(PieceModelTest, SettingsThatChangeTextsAreRefused) {
  using namespace std::string_literals;
  const std::string file = piece_model_file(small_model());
  for (const std::string& more : {
           field(2, "\xc0\x01\x01"),               // trainer_spec: treat_whitespace_as_suffix
           field(2, "\x98\x02\x00"s),              // byte_fallback off
           field(3, "\x18\x01"),                   // normalizer_spec: add_dummy_prefix
           field(3, "\x20\x01"),                   // remove_extra_whitespaces
           field(3, "\x28\x00"s),                  // no escape_whitespaces
           field(3, "\x12\x04\x04\x00\x00\x00"s),  // rules
       })
    EXPECT_NE(refusal(file + more).find("changes texts"), std::string::npos);
  EXPECT_NE(refusal(file + field(2, "\x18\x04")).find("neither"), std::string::npos);
  EXPECT_NE(refusal(file + field(9, "x")).find("does not have"), std::string::npos);
  EXPECT_NE(refusal(file + "\x0b").find("wrong form"), std::string::npos);  // a group
  EXPECT_NE(refusal(file + "\x08\x01").find("wrong form"), std::string::npos);
  // Samples are not run, and a rule for decoding is not used.
  EXPECT_EQ(refusal(file + field(4, "\x0a\x02\x0a\x00"s) + field(5, "\x12\x01\x07")), "accepted");
}

}  // namespace
}  // namespace linnet
