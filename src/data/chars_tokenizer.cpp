// chars_tokenizer.cpp -- chars: the Unicode characters seen in training, the most frequent first.
//
// Id 0 is for what was not seen: another character, or a byte that is not UTF-8. So the text comes
// back whole where all its characters are known.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "core/error.h"
#include "core/file.h"
#include "core/utf8.h"
#include "data/tokenizer.h"
#include "data/tokenizer_json.h"

namespace linnet {
namespace {

constexpr uint32_t kReplacement = 0xfffd;

class CharsTokenizer final : public Tokenizer {
 public:
  // Distinct code points; character i has id i + 1.
  explicit CharsTokenizer(std::vector<uint32_t> characters) : characters_(std::move(characters)) {
    ids_.reserve(characters_.size());
    for (const uint32_t c : characters_) ids_.emplace(c, static_cast<int32_t>(ids_.size()) + 1);
  }

  std::string_view kind() const override { return "chars"; }
  int32_t vocabulary() const override { return static_cast<int32_t>(characters_.size()) + 1; }
  void encode(std::string_view text, std::vector<int32_t>& ids) const override {
    while (!text.empty()) {
      const Utf8Character c = decode_utf8(text);
      const auto found = c.length > 0 ? ids_.find(c.code_point) : ids_.end();
      ids.push_back(found == ids_.end() ? 0 : found->second);
      text.remove_prefix(std::max<size_t>(c.length, 1));
    }
  }
  std::string file() const override {
    nlohmann::ordered_json json;
    json["kind"] = kind();
    json["code_points"] = characters_;
    return json.dump() + "\n";
  }

 private:
  std::string decode_known(std::span<const int32_t> ids) const override {
    std::string text;
    for (const int32_t id : ids) {
      append_utf8(id == 0 ? kReplacement : characters_[static_cast<size_t>(id) - 1], text);
    }
    return text;
  }
  std::string name_of(int32_t id) const override {
    return id == 0 ? "<unk>" : printable(decode_known({&id, 1}));
  }

  std::vector<uint32_t> characters_;
  std::unordered_map<uint32_t, int32_t> ids_;
};

std::unique_ptr<Tokenizer> train(const TokenizerKind&, const TextSource& texts,
                                 const TokenizerOptions& options) {
  std::unordered_map<uint32_t, int64_t> counts;
  int64_t rows = 0;
  for (std::string text; texts(text);) {
    std::string_view rest = text;
    while (!rest.empty()) {
      const Utf8Character c = decode_utf8(rest);
      if (c.length > 0) ++counts[c.code_point];
      rest.remove_prefix(std::max<size_t>(c.length, 1));
    }
    if (++rows % 1024 == 0 && options.progress) options.progress(fmt::format("{} texts", rows));
  }
  if (counts.empty()) throw Error("[tokenizer] there is no character in the texts to learn from");
  std::vector<std::pair<int64_t, uint32_t>> order;
  for (const auto& [c, count] : counts) order.emplace_back(-count, c);
  std::ranges::sort(order);
  order.resize(std::min(order.size(), static_cast<size_t>(options.vocabulary) - 1));
  std::vector<uint32_t> characters;
  for (const auto& [count, c] : order) characters.push_back(c);
  return std::make_unique<CharsTokenizer>(std::move(characters));
}

std::unique_ptr<Tokenizer> load(std::string_view content, std::string_view place) {
  const auto json = parse_tokenizer_json(content, place, {"code_points"});
  std::vector<uint32_t> characters;
  for (const auto& value : list_field(json, "code_points", place)) {
    const uint64_t c = value.is_number_unsigned() ? value.get<uint64_t>() : UINT64_MAX;
    if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
      throw Error(fmt::format("[{}] \"code_points\" number {} is no character", place,
                              characters.size() + 1));
    characters.push_back(static_cast<uint32_t>(c));
  }
  std::vector<uint32_t> sorted = characters;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end())
    throw Error(fmt::format("[{}] \"code_points\" has a character twice", place));
  return std::make_unique<CharsTokenizer>(std::move(characters));
}

}  // namespace

extern const TokenizerKind kCharsTokenizer = {
    .name = "chars",
    .formula = "id = rank of the character by how often it was seen, 0 for others",
    .cost = "O(bytes)",
    .paper = "",
    .summary = "the Unicode characters seen in training; an unknown id for the rest",
    .file = kTokenizerJson,
    .reversible = false,
    .train = train,
    .load = load,
};

}  // namespace linnet
