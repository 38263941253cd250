// run_log.cpp -- one JSON object a line: a step has "loss", a look "validation_loss".
#include "train/run_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "core/error.h"
#include "core/file.h"
#include "core/settings.h"

namespace linnet {
namespace {

using Json = nlohmann::json;

double number(const Json& line, const char* name) {
  double value = NAN;
  if (line.contains(name) && !line[name].is_null())
    read_setting("metrics", name, line[name], value);
  return value;
}

void add_line(const Json& line, RunLog& log) {
  if (!line.is_object()) refuse_settings("metrics");
  const double seconds = number(line, "seconds");
  if (line.contains("validation_loss")) {
    RunLog::Look look{.step = 0,
                      .seconds = seconds,
                      .validation_loss = number(line, "validation_loss"),
                      .validation_accuracy = number(line, "validation_accuracy"),
                      .steps = log.steps.size()};
    read_setting("metrics", "step", line.value("step", Json()), look.step);
    log.looks.push_back(look);
  } else if (line.contains("loss")) {
    log.steps.push_back({.loss = number(line, "loss"),
                         .tokens = number(line, "tokens"),
                         .seconds = seconds,
                         .tokens_per_s = number(line, "tokens_per_s")});
  } else {
    throw Error("[metrics] is neither of a step nor of a look");
  }
}

}  // namespace

double RunLog::mean_loss_before(size_t look) const {
  const size_t first = look == 0 ? 0 : looks[look - 1].steps;
  double sum = 0;
  for (size_t i = first; i < looks[look].steps; ++i) sum += steps[i].loss;
  return sum / std::max(static_cast<double>(looks[look].steps - first), 1.0);
}

RunLog read_run_log(std::istream& lines, const std::string& place) {
  RunLog log;
  int64_t number = 0;
  for (std::string text; std::getline(lines, text);) {
    const std::string at = fmt::format("{}:{}", place, ++number);
    const Json line = parse_settings(text, at);
    try {
      add_line(line, log);
    } catch (const Error& error) {
      throw Error(fmt::format("[{}] {}", at, error.what()));
    }
  }
  // A disk that fails looks like the end of the file otherwise.
  if (lines.bad()) throw Error(fmt::format("[{}] cannot read", place));
  return log;
}

RunLog load_run_log(const std::filesystem::path& file) {
  std::ifstream lines(file);
  if (!lines) throw Error(fmt::format("[{}] cannot open", place_of(file)));
  return read_run_log(lines, place_of(file));
}

}  // namespace linnet
