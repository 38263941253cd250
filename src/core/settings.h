// settings.h -- fields of settings from JSON, for every group of them; an Error names group and
// field.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace linnet {

// No whole number above this: sums and products of a few of them stay far below 2^63.
inline constexpr int64_t kLargestSetting = int64_t{1} << 40;

void read_setting(std::string_view group, const char* name, const nlohmann::json& value,
                  int64_t& out);
void read_setting(std::string_view group, const char* name, const nlohmann::json& value,
                  double& out);
void read_setting(std::string_view group, const char* name, const nlohmann::json& value, bool& out);
void read_setting(std::string_view group, const char* name, const nlohmann::json& value,
                  std::string& out);
void read_setting(std::string_view group, const char* name, const nlohmann::json& value,
                  std::vector<std::string>& out);

// JSON of settings, nowhere deeper than a list in an object in an object, or `more` than that.
nlohmann::json parse_settings(std::string_view text, std::string_view place, int more = 0);

void check_setting(std::string_view group, const char* name, int64_t value, int64_t least,
                   int64_t most);
void check_setting(std::string_view group, const char* name, const std::string& value,
                   std::initializer_list<const char*> known);

[[noreturn]] void refuse_settings(std::string_view group);
[[noreturn]] void refuse_setting(std::string_view group, const std::string& name);

// Reads every field that `fields` visits from an object; a name that it does not know is an Error,
// but for `skipped`. fields(settings, visit) calls visit(name, member, help).
template <class Settings, class Fields>
Settings settings_from_json(std::string_view group, const nlohmann::json& json,
                            const Fields& fields, std::string_view skipped = "") {
  if (!json.is_object()) refuse_settings(group);
  Settings settings;
  size_t known = !skipped.empty() && json.contains(skipped);
  fields(settings, [&](const char* name, auto& member, const char*) {
    const auto it = json.find(name);
    if (it == json.end()) return;
    ++known;
    read_setting(group, name, *it, member);
  });
  if (known == json.size()) return settings;
  for (const auto& [name, value] : json.items()) {
    bool found = name == skipped;
    fields(settings,
           [&n = name, &found](const char* field, auto&, const char*) { found |= n == field; });
    if (!found) refuse_setting(group, name);
  }
  return settings;
}

}  // namespace linnet
