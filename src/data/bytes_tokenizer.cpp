// bytes_tokenizer.cpp -- bytes: every byte is its own id, as in the text tasks of LRA.
#include "core/file.h"
#include "data/tokenizer.h"
#include "data/tokenizer_json.h"

namespace linnet {
namespace {

class BytesTokenizer final : public Tokenizer {
 public:
  std::string_view kind() const override { return "bytes"; }
  int32_t vocabulary() const override { return 256; }
  void encode(std::string_view text, std::vector<int32_t>& ids) const override {
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
    ids.insert(ids.end(), bytes, bytes + text.size());
  }
  std::string file() const override { return "{\"kind\": \"bytes\"}\n"; }

 private:
  std::string decode_known(std::span<const int32_t> ids) const override {
    return {ids.begin(), ids.end()};
  }
  std::string name_of(int32_t id) const override {
    return printable(std::string(1, static_cast<char>(id)));
  }
};

std::unique_ptr<Tokenizer> load(std::string_view content, std::string_view place) {
  parse_tokenizer_json(content, place, {});
  return std::make_unique<BytesTokenizer>();
}

}  // namespace

extern const TokenizerKind kBytesTokenizer = {
    .name = "bytes",
    .formula = "id = byte, 0 to 255",
    .cost = "O(bytes)",
    .paper = "Tay et al. 2021, LRA",
    .summary = "every byte is a token: nothing to learn, nothing lost, long sequences",
    .file = kTokenizerJson,
    .reversible = true,
    .train = nullptr,
    .load = load,
};

}  // namespace linnet
