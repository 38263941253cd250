// search_record.cpp -- every line is held against what the search can have written.
#include "train/search_record.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "core/error.h"
#include "core/settings.h"

namespace linnet {
namespace {

using Json = nlohmann::json;

int64_t whole(const Json& line, const char* name, int64_t least, int64_t most) {
  int64_t value = 0;
  read_setting("autotune", name, line.value(name, Json()), value);
  check_setting("autotune", name, value, least, most);
  return value;
}

// NaN for what is null; only scores can be.
double number(const Json& value, const char* name, bool may_be_null) {
  double result = NAN;
  if (!may_be_null || !value.is_null()) read_setting("autotune", name, value, result);
  return result;
}

TuningLook look_of(const Json& line, const SearchSize& size, const std::string& metric) {
  const auto last = static_cast<int64_t>(size.candidates) - 1;
  TuningLook look{.round = static_cast<int>(whole(line, "round", 1, size.rounds)),
                  .candidate = static_cast<size_t>(whole(line, "candidate", 0, last))};
  look.score = number(line.value("score", line.value(metric, Json())), "score", true);
  look.loss = number(line.value("loss", Json()), "loss", false);
  look.steps = whole(line, "steps", 0, kLargestSetting);
  look.seconds = number(line.value("seconds", Json()), "seconds", false);
  if (line.contains("error")) read_setting("autotune", "error", line["error"], look.error);
  return look;
}

void add_line(const Json& line, const SearchSize& size, const std::string& metric,
              SearchRecord& record) {
  if (!line.is_object()) refuse_settings("autotune");
  if (record.chosen) throw Error("[autotune] nothing can follow the choice");
  if (line.contains("asked") != record.asked.is_null())
    throw Error("[autotune] what was asked must be the first line, and no other");
  if (line.contains("asked")) {
    if (!line["asked"].is_object()) refuse_settings("autotune.asked");
    record.asked = line["asked"];
  } else if (line.contains("chosen")) {
    record.chosen =
        static_cast<size_t>(whole(line, "chosen", 0, static_cast<int64_t>(size.candidates) - 1));
  } else {
    record.looks.push_back(look_of(line, size, metric));
  }
}

}  // namespace

SearchRecord parse_search(std::string_view text, std::string_view place, const SearchSize& size,
                          const std::string& metric) {
  constexpr int kNests = 1;  // "asked" holds the settings of a run
  SearchRecord record;
  for (int64_t number = 1; number == 1 || !text.empty(); ++number) {
    const std::string at = fmt::format("{}:{}", place, number);
    const size_t end = text.find('\n');
    if (end == text.npos) throw Error(fmt::format("[{}] is no line of a search", at));
    const Json line = parse_settings(text.substr(0, end), at, kNests);
    try {
      add_line(line, size, metric, record);
    } catch (const Error& error) {
      throw Error(fmt::format("[{}] is no line of a search: {}", at, error.what()));
    }
    text.remove_prefix(end + 1);
  }
  return record;
}

}  // namespace linnet
