// listops_tokenizer.cpp -- listops: the 17 words of ListOps, ids as in listops.h.
#include "data/listops.h"
#include "data/tokenizer.h"
#include "data/tokenizer_json.h"

namespace linnet {
namespace {

class ListopsTokenizer final : public Tokenizer {
 public:
  std::string_view kind() const override { return "listops"; }
  int32_t vocabulary() const override { return kListopsVocabulary; }
  // A word that ListOps does not have is an Error with its column: a typing error, not a rare word.
  void encode(std::string_view text, std::vector<int32_t>& ids) const override {
    const std::vector<uint16_t> tokens = parse_listops(text);
    ids.insert(ids.end(), tokens.begin(), tokens.end());
  }
  std::string file() const override { return "{\"kind\": \"listops\"}\n"; }

 private:
  std::string decode_known(std::span<const int32_t> ids) const override {
    std::string text;
    for (const int32_t id : ids) {
      if (!text.empty()) text += ' ';
      text += listops_token_text(id);
    }
    return text;
  }
  std::string name_of(int32_t id) const override { return std::string(listops_token_text(id)); }
};

std::unique_ptr<Tokenizer> load(std::string_view content, std::string_view place) {
  parse_tokenizer_json(content, place, {});
  return std::make_unique<ListopsTokenizer>();
}

}  // namespace

extern const TokenizerKind kListopsTokenizer = {
    .name = "listops",
    .formula = "0 to 9, [MIN, [MAX, [MED, [SM, ], padding, unknown",
    .cost = "O(bytes)",
    .paper = "Nangia and Bowman 2018",
    .summary = "the words of ListOps, parentheses dropped; another word is an error",
    .file = kTokenizerJson,
    .reversible = false,
    .train = nullptr,
    .load = load,
};

}  // namespace linnet
