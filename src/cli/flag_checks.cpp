// flag_checks.cpp -- checks that every option of every verb gets.
#include "cli/flag_checks.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include "core/file.h"

namespace linnet {
namespace {

bool is_whole_number(std::string_view text, bool negative) {
  if (negative && text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

// Empty if all is well, as CLI11 wants it.
std::string fault_of(const std::string& type, const std::string& value) {
  const auto must_be = [&](const char* what) {
    return fmt::format("must be {}, not \"{}\"", what, printable(value, 40));
  };
  if (value.empty()) return "is empty";
  if (type == "UINT" && !is_whole_number(value, false)) return must_be("a whole number from 0 on");
  if (type == "INT" && !is_whole_number(value, true)) return must_be("a whole number");
  if (type == "FLOAT" && !is_number(value)) return must_be("a number");
  return "";
}

}  // namespace

bool is_number(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, fault] = std::from_chars(text.data(), end, value);
  return fault == std::errc() && rest == end && std::isfinite(value);
}

void check_flags(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_expected_max() == 0) continue;  // has no value
    // The type as it was declared: a range of its own replaces it in the help only.
    const std::string shown = option->get_type_name();  // "INT:INT in [1 - 100]"
    const auto check = [type = shown.substr(0, shown.find(':'))](const std::string& value) {
      return fault_of(type, value);
    };
    option->transform(CLI::Validator(check, ""));  // in front of its own range, which nan passes
  }
  for (CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    check_flags(*verb);
}

}  // namespace linnet
