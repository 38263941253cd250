// flag_checks.h -- what is asked of the values of all flags, whatever the verb.
#pragma once

#include <CLI/CLI.hpp>
#include <string_view>

namespace linnet {

// A decimal number and nothing else: no nan, inf, 0x10, 1e400 or blanks.
bool is_number(std::string_view text);

// No flag takes an empty value, and one of a number takes a number only; a range is checked after
// that. To be called once, when all verbs are added.
void check_flags(CLI::App& app);

}  // namespace linnet
