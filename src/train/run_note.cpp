// run_note.cpp -- fields of the note, and the range of each.
#include "train/run_note.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/file.h"
#include "core/settings.h"

namespace linnet {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMostSeconds = 1e10;  // three hundred years

// The fields of a note: visit(name, member).
template <class Note, class Visit>
void for_each_field(Note& note, const Visit& visit) {
  auto& [state, position] = note;
  visit("tokens", state.tokens);
  visit("evaluations", state.evaluations);
  visit("best_evaluation", state.best_evaluation);
  visit("epochs", state.epochs);
  visit("seconds", state.seconds);
  visit("best", state.best);
  visit("best_loss", state.best_loss);
  visit("log_bytes", state.log_bytes);
  visit("epoch", position.epoch);
  visit("record", position.record);
  visit("batch", position.batch);
  visit("examples", position.examples);
}

// What earlier versions did not write.
bool may_lack(std::string_view name) { return name == "epochs" || name == "examples"; }

void read_field(const char* name, const nlohmann::json& value, int64_t& out) {
  read_setting("checkpoint", name, value, out);
  check_setting("checkpoint", name, out, 0, kLargestSetting);
}

// Figures of validation may be NaN, which is null.
void read_field(const char* name, const nlohmann::json& value, double& out) {
  const std::string_view field = name;
  if (value.is_null() && (field == "best" || field == "best_loss")) {
    out = NAN;
    return;
  }
  read_setting("checkpoint", name, value, out);
}

// Pairs of a name and a number; null is NaN.
Figures read_figures(const nlohmann::json& json) {
  Figures figures;
  const auto refuse = [] {
    throw Error("[checkpoint.wide_figures] must be pairs of a name and a number");
  };
  if (!json.is_array()) refuse();
  for (const nlohmann::json& pair : json) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() ||
        printable(pair[0].get<std::string>()) != pair[0] ||
        !(pair[1].is_number() || pair[1].is_null()))
      refuse();
    figures.emplace_back(pair[0], pair[1].is_null() ? NAN : pair[1].get<double>());
  }
  return figures;
}

void check_range(const char* name, double value, double least, double most) {
  if (!(value >= least && value <= most))
    throw Error(fmt::format("[checkpoint.{}] must be {} to {}, not {}", name, least, most, value));
}

void check_note(const RunNote& note, const NoteLimits& limits, bool knows_epochs) {
  const auto& [state, position] = note;
  const auto check = [](const char* name, int64_t value, int64_t least, int64_t most) {
    check_setting("checkpoint", name, value, least, most);
  };
  // A step has a token at least, and one look at most; the first look is the best until a better.
  check("tokens", state.tokens, limits.steps, kLargestSetting);
  check("evaluations", state.evaluations, 0, std::min(limits.steps, limits.evaluations));
  check("best_evaluation", state.best_evaluation, std::min<int64_t>(state.evaluations, 1),
        state.evaluations);
  check("log_bytes", state.log_bytes, 0, limits.log_bytes);
  check("record", position.record, 0, std::max<int64_t>(limits.records - 1, 0));
  check("batch", position.batch, std::min<int64_t>(limits.steps, 1),
        position.examples > 0 ? position.examples : kLargestSetting);
  check_range("seconds", state.seconds, 0, kMostSeconds);
  // No figure that models are chosen by is below 0.
  for (const auto& [name, value] : {std::pair{"best", state.best}, {"best_loss", state.best_loss}})
    if (!std::isnan(value)) check_range(name, value, 0, std::numeric_limits<double>::max());
  const auto epoch = static_cast<double>(position.epoch);
  if (knows_epochs) check_range("epochs", state.epochs, epoch, epoch + 1);
}

}  // namespace

std::string note_text(const RunNote& note) {
  Json json;
  for_each_field(note, [&](const char* name, const auto& member) { json[name] = member; });
  json["wide_figures"] = note.state.wide_figures;
  return json.dump();
}

RunNote parse_note(std::string_view text, std::string_view place, const NoteLimits& limits) {
  const nlohmann::json json = parse_settings(text, place);
  try {
    if (!json.is_object()) refuse_settings("checkpoint");
    RunNote note;
    for_each_field(note, [&](const char* name, auto& member) {
      if (json.contains(name)) return read_field(name, json[name], member);
      if (!may_lack(name)) throw Error(fmt::format("[checkpoint.{}] is missing", name));
    });
    if (json.contains("wide_figures")) note.state.wide_figures = read_figures(json["wide_figures"]);
    check_note(note, limits, json.contains("epochs"));
    return note;
  } catch (const Error& error) {
    throw Error(fmt::format("[{}] {}", place, error.what()));
  }
}

}  // namespace linnet
