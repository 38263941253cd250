// streams.h -- standard output and standard error: what cannot be written to the first is an Error,
// of the second it is ignored.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "core/file.h"

namespace linnet {

// The reader of standard output has gone: no fault, the program ends as filters do.
struct ClosedPipe {};

// To be called first: a descriptor that is closed at the start must not go to a file of data, and a
// pipe without a reader must not end the program before it has tidied up.
void prepare_streams();
// Ends the program by the signal that a closed pipe sends.
void end_by_closed_pipe();

// Standard output, as it is.
void write_out(std::string_view text);
// For people and programs that wait, and at the end: only now a full disk shows.
void flush_out();
// One JSON object on a line of standard output.
void write_json(const nlohmann::ordered_json& json);

// Standard error, as it is.
void write_note(std::string_view text);

namespace detail {

template <class T>
auto shown(const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>)
    return printable(value, std::string::npos);
  else
    return value;
}

template <class... Args>
std::string format_shown(fmt::string_view format, const Args&... args) {
  const auto values = std::make_tuple(shown(args)...);
  return std::apply(
      [&](const auto&... value) { return fmt::vformat(format, fmt::make_format_args(value...)); },
      values);
}

}  // namespace detail

// Formatted, for people: text among the arguments is made printable, since it may be foreign.
template <class... Args>
void print_out(fmt::format_string<Args...> format, Args&&... args) {
  write_out(detail::format_shown(format, args...));
}
template <class... Args>
void print_note(fmt::format_string<Args...> format, Args&&... args) {
  write_note(detail::format_shown(format, args...));
}

}  // namespace linnet
