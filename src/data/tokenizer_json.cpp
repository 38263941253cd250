// tokenizer_json.cpp -- checks of a JSON file from anybody.
#include "data/tokenizer_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/file.h"

namespace linnet {
namespace {

using nlohmann::json;

[[noreturn]] void fail(std::string_view place, std::string_view what) {
  throw Error(fmt::format("[{}] {}", place, what));
}

json parse_object(std::string_view content, std::string_view place) {
  // The depth is checked while parsing: a file of brackets would take sixty times its size.
  const auto shallow = [&](int depth, json::parse_event_t event, json&) {
    const bool opens =
        event == json::parse_event_t::array_start || event == json::parse_event_t::object_start;
    if (opens && depth > 1) fail(place, "is not a tokenizer: a list within a list");
    return true;
  };
  json object;
  try {
    object = json::parse(content, shallow);
  } catch (const json::exception&) {
    fail(place, "is not JSON, or is cut short");
  }
  if (!object.is_object()) fail(place, "must be a JSON object");
  return object;
}

}  // namespace

std::string tokenizer_json_kind(std::string_view content, std::string_view place) {
  const json object = parse_object(content, place);
  const auto kind = object.find("kind");
  if (kind == object.end() || !kind->is_string())
    fail(place, "has no field \"kind\" with the name of a tokenizer");
  return kind->get<std::string>();
}

json parse_tokenizer_json(std::string_view content, std::string_view place,
                          std::initializer_list<std::string_view> fields) {
  json object = parse_object(content, place);
  for (const auto& [name, value] : object.items()) {
    if (name != "kind" && std::ranges::find(fields, name) == fields.end())
      fail(place, fmt::format("unknown field \"{}\"", printable(name)));
  }
  for (const std::string_view field : fields) {
    if (!object.contains(field)) fail(place, fmt::format("the field \"{}\" is missing", field));
  }
  return object;
}

int64_t integer_field(const json& object, const char* field, int64_t least, int64_t most,
                      std::string_view place) {
  const json& value = object.at(field);
  const bool fits = value.is_number_integer() &&
                    !(value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX);
  const int64_t number = fits ? value.get<int64_t>() : 0;
  if (!fits || number < least || number > most)
    fail(place, fmt::format("\"{}\" must be a whole number from {} to {}", field, least, most));
  return number;
}

bool flag_field(const json& object, const char* field, std::string_view place) {
  const json& value = object.at(field);
  if (!value.is_boolean()) fail(place, fmt::format("\"{}\" must be true or false", field));
  return value.get<bool>();
}

const json& list_field(const json& object, const char* field, std::string_view place) {
  const json& value = object.at(field);
  if (!value.is_array() || value.size() > static_cast<size_t>(kMaxVocabulary))
    fail(place, fmt::format("\"{}\" must be a list of at most {} values", field, kMaxVocabulary));
  return value;
}

}  // namespace linnet
