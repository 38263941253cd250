// settings.cpp -- types and ranges of settings.
#include "core/settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/file.h"

namespace linnet {
namespace {

using Json = nlohmann::json;

[[noreturn]] void refuse(std::string_view group, const char* name, const char* what) {
  throw Error(fmt::format("[{}.{}] must be {}", group, name, what));
}

}  // namespace

void read_setting(std::string_view group, const char* name, const Json& value, int64_t& out) {
  if (!value.is_number_integer()) refuse(group, name, "a whole number");
  if (value.is_number_unsigned() &&
      value.get<uint64_t>() > static_cast<uint64_t>(kLargestSetting)) {
    throw Error(fmt::format("[{}.{}] must be at most {}", group, name, kLargestSetting));
  }
  out = value.get<int64_t>();
}
void read_setting(std::string_view group, const char* name, const Json& value, double& out) {
  if (!value.is_number()) refuse(group, name, "a number");
  out = value.get<double>();
}
void read_setting(std::string_view group, const char* name, const Json& value, bool& out) {
  if (!value.is_boolean()) refuse(group, name, "true or false");
  out = value.get<bool>();
}
void read_setting(std::string_view group, const char* name, const Json& value, std::string& out) {
  if (!value.is_string()) refuse(group, name, "a text");
  out = value.get<std::string>();
}
void read_setting(std::string_view group, const char* name, const Json& value,
                  std::vector<std::string>& out) {
  const bool texts = value.is_array() && std::all_of(value.begin(), value.end(),
                                                     [](const Json& v) { return v.is_string(); });
  if (!texts) refuse(group, name, "a list of texts");
  out = value.get<std::vector<std::string>>();
}

Json parse_settings(std::string_view text, std::string_view place, int more) {
  // Nothing nests deeper than a list in an object in an object: refused before it can.
  const auto shallow = [more](int depth, Json::parse_event_t event, Json&) {
    using Event = Json::parse_event_t;
    if (depth > 2 + more && (event == Event::object_start || event == Event::array_start)) {
      throw Error("settings have no objects or lists as deep as that");
    }
    return true;
  };
  // The parser would take a zero byte for the end of the text.
  if (text.find('\0') != text.npos)
    throw Error(fmt::format("[{}] not valid JSON: it has a zero byte", place));
  Json json;
  try {
    json = Json::parse(text, shallow);
  } catch (const Json::exception& error) {
    throw Error(fmt::format("[{}] not valid JSON: {}", place, printable(error.what(), 200)));
  } catch (const Error& error) {
    throw Error(fmt::format("[{}] {}", place, error.what()));
  }
  return json;
}

void check_setting(std::string_view group, const char* name, int64_t value, int64_t least,
                   int64_t most) {
  if (value >= least && value <= most) return;
  throw Error(fmt::format("[{}.{}] must be {} to {}, not {}", group, name, least, most, value));
}

void check_setting(std::string_view group, const char* name, const std::string& value,
                   std::initializer_list<const char*> known) {
  std::string list;
  for (const char* choice : known) {
    if (value == choice) return;
    list += (list.empty() ? "" : ", ") + std::string(choice);
  }
  throw Error(
      fmt::format("[{}.{}] must be one of {}, not \"{}\"", group, name, list, printable(value)));
}

void refuse_settings(std::string_view group) {
  throw Error(fmt::format("[{}] must be a JSON object", group));
}

void refuse_setting(std::string_view group, const std::string& name) {
  throw Error(fmt::format("[{}.{}] no such setting", group, printable(name)));
}

}  // namespace linnet
