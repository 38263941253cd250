// tokenizer_json.h -- tokenizer.json: a flat object that is checked field by field.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace linnet {

inline constexpr std::string_view kTokenizerJson = "tokenizer.json";
inline constexpr std::string_view kTokenizerModel = "tokenizer.model";
inline constexpr size_t kMaxTokenizerFile = size_t{64} << 20;
inline constexpr int32_t kMaxVocabulary = 1 << 24;

// The field "kind" of a JSON object.
std::string tokenizer_json_kind(std::string_view content, std::string_view place);

// The object, with all of these fields and no other beside "kind". Lists in it hold no lists.
nlohmann::json parse_tokenizer_json(std::string_view content, std::string_view place,
                                    std::initializer_list<std::string_view> fields);

int64_t integer_field(const nlohmann::json& object, const char* field, int64_t least, int64_t most,
                      std::string_view place);
bool flag_field(const nlohmann::json& object, const char* field, std::string_view place);
// A list of at most kMaxVocabulary values.
const nlohmann::json& list_field(const nlohmann::json& object, const char* field,
                                 std::string_view place);

}  // namespace linnet
