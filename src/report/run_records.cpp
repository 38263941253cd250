// run_records.cpp -- reads and checks the lines, field by field.
#include "report/run_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>

#include "core/error.h"
#include "core/file.h"

namespace linnet {
namespace {

using nlohmann::json;

constexpr size_t kMaxFile = size_t{1} << 27;  // tens of thousands of runs
constexpr int kMaxDepth = 8;
constexpr size_t kMaxName = 100, kMaxText = 400, kMaxSetting = 10000;
constexpr size_t kMaxCurve = 100000, kMaxPlan = 10000;

// One line of a file; its faults are Errors that name it.
class Line {
 public:
  Line(std::string_view text, std::string place) : place_(std::move(place)) {
    // The depth is checked while parsing, before a line of brackets takes sixty times its size.
    const auto shallow = [&](int depth, json::parse_event_t event, json&) {
      const bool opens =
          event == json::parse_event_t::array_start || event == json::parse_event_t::object_start;
      if (opens && depth >= kMaxDepth) fail("lists and objects are nested too deep");
      return true;
    };
    try {
      object_ = json::parse(text, shallow);
    } catch (const json::exception&) {
      fail("is not JSON, or is cut short");
    }
    if (!object_.is_object()) fail("must be a JSON object");
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(fmt::format("[{}] {}", place_, what));
  }
  const json& object() const { return object_; }
  const std::string& place() const { return place_; }

  // A field, or null.
  static const json& field(const json& object, const char* name) {
    static const json kNull;
    const auto it = object.find(name);
    return it == object.end() ? kNull : *it;
  }

  std::string name_of(const json& value, const char* what) const {
    if (!value.is_string() || value.get_ref<const std::string&>().empty() ||
        value.get_ref<const std::string&>().size() > kMaxName) {
      fail(fmt::format("\"{}\" must be a text of 1 to {} bytes", what, kMaxName));
    }
    return printable(value.get_ref<const std::string&>(), 4 * kMaxName);
  }
  std::string name(const json& object, const char* what) const {
    return name_of(field(object, what), what);
  }
  // May be missing or empty, and is cut when it is long.
  std::string text(const json& object, const char* what) const {
    const json& value = field(object, what);
    if (value.is_null()) return "";
    if (!value.is_string()) fail(fmt::format("\"{}\" must be a text", what));
    return printable(value.get_ref<const std::string&>(), kMaxText);
  }
  double number_of(const json& value, const char* what, double most) const {
    const double number = value.is_number() ? value.get<double>() : kNotMeasured;
    if (!(number >= 0 && number <= most))
      fail(fmt::format("\"{}\" must be a number from 0 to {}", what, most));
    return number;
  }
  // NaN when it is missing or null, which is how JSON writes a loss that is no number.
  double number(const json& object, const char* what, double most = 1e30) const {
    const json& value = field(object, what);
    return value.is_null() ? kNotMeasured : number_of(value, what, most);
  }
  uint64_t seed_of(const json& value) const {
    if (!value.is_number_unsigned()) fail("a seed must be a whole number from 0");
    return value.get<uint64_t>();
  }
  RunScores scores(const char* what) const {
    const json& value = field(object_, what);
    if (value.is_null()) return {};
    if (!value.is_object()) fail(fmt::format("\"{}\" must be an object", what));
    return {number(value, "loss"), number(value, "accuracy", 1)};
  }
  const json& list(const json& object, const char* what, size_t most) const {
    const json& value = field(object, what);
    if (!value.is_array() || value.size() > most)
      fail(fmt::format("\"{}\" must be a list of at most {} values", what, most));
    return value;
  }

 private:
  json object_;
  std::string place_;
};

std::vector<RunCurvePoint> read_curve(const Line& line) {
  std::vector<RunCurvePoint> curve;
  if (!line.object().contains("curve")) return curve;
  for (const json& point : line.list(line.object(), "curve", kMaxCurve)) {
    if (!point.is_object()) line.fail("a point of \"curve\" must be an object");
    curve.push_back({line.number(point, "step"), line.number(point, "seconds"),
                     line.number(point, "loss"), line.number(point, "validation_loss"),
                     line.number(point, "validation_accuracy", 1)});
    if (std::isnan(curve.back().step)) line.fail("a point of \"curve\" has no \"step\"");
    if (curve.size() > 1 && !(curve.back().step > curve[curve.size() - 2].step))
      line.fail("the steps of \"curve\" must rise");
  }
  return curve;
}

// Objects within objects as "outer.inner". A seed is left out wherever it is repeated: runs that
// differ by their seeds alone belong together.
void flatten_settings(const Line& line, const json& settings, const std::string& prefix,
                      std::map<std::string, std::string>& flat) {
  for (const auto& [name, value] : settings.items()) {
    if (name == "seed") continue;
    if (value.is_object()) {
      flatten_settings(line, value, prefix + name + ".", flat);
      continue;
    }
    const std::string text = value.dump();
    if (text.size() > kMaxSetting) line.fail("a value of \"settings\" is too long");
    flat[printable(prefix + name, kMaxText)] = printable(text, 4 * kMaxSetting);
  }
}

// As the arena writes them; other programs have settings of their own.
bool of_a_run(const json& settings) {
  return Line::field(settings, "model").is_object() && Line::field(settings, "train").is_object() &&
         settings.contains("tokenizer");
}

RunRecord read_run(const Line& line, const CompleteSettings& complete) {
  const json& object = line.object();
  RunRecord run;
  run.arena = line.name(object, "arena");
  run.task = line.name(object, "task");
  run.row = line.name(object, "row");
  run.profile = line.text(object, "profile");
  run.seed = line.seed_of(Line::field(object, "seed"));
  const json& status = Line::field(object, "status");
  if (status != "ok" && status != "failed") line.fail("\"status\" must be \"ok\" or \"failed\"");
  run.ok = status == "ok";
  run.error = line.text(object, "error");
  run.commit = line.text(object, "commit");
  run.machine = line.text(object, "machine");
  run.started = line.text(object, "started");
  const json& settings = Line::field(object, "settings");
  if (!settings.is_null() && !settings.is_object()) line.fail("\"settings\" must be an object");
  if (settings.is_object())
    flatten_settings(line, complete && of_a_run(settings) ? complete(settings) : settings, "",
                     run.settings);
  run.seconds = line.number(object, "seconds");
  run.steps = line.number(object, "steps");
  run.tokens = line.number(object, "tokens");
  run.flops = line.number(object, "flops");
  run.parameters = line.number(object, "parameters");
  run.peak_mb = line.number(object, "peak_mb");
  run.tokens_per_s = line.number(object, "tokens_per_s");
  run.validation = line.scores("validation");
  run.test = line.scores("test");
  if (run.ok && std::isnan(run.test.accuracy))
    line.fail("a run with \"status\":\"ok\" must have \"test\":{\"accuracy\":...}");
  run.curve = read_curve(line);
  run.place = line.place();
  return run;
}

RunProjection read_projection(const Line& line) {
  const json& object = line.object();
  RunProjection projection{.arena = line.name(object, "projection"),
                           .task = line.name(object, "task"),
                           .row = line.name(object, "row"),
                           .profile = line.text(object, "profile"),
                           .commit = line.text(object, "commit"),
                           .machine = line.text(object, "machine"),
                           .place = line.place()};
  projection.parameters = line.number(object, "parameters");
  projection.tokens_per_s = line.number(object, "tokens_per_s");
  projection.peak_mb = line.number(object, "peak_mb");
  projection.measured_steps = line.number(object, "measured_steps");
  projection.step_seconds = line.number(object, "step_seconds");
  projection.look_seconds = line.number(object, "look_seconds");
  projection.steps = line.number(object, "steps");
  projection.looks = line.number(object, "looks");
  projection.seconds = line.number_of(Line::field(object, "seconds"), "seconds", 1e30);
  return projection;
}

// Null: a line of a bench about something else, e.g. its heading.
std::optional<LengthPoint> read_length_point(const Line& line) {
  const json& object = line.object();
  if (!object.contains("length")) return std::nullopt;
  LengthPoint point{.mixer = line.name(object, "mixer"),
                    .training = Line::field(object, "mode") == "train",
                    .length = line.number_of(Line::field(object, "length"), "length", 1e12),
                    .seconds = line.number_of(Line::field(object, "seconds"), "seconds", 1e12),
                    .memory_mb = line.number(object, "memory_mb")};
  if (!(point.length >= 1 && point.seconds > 0))
    line.fail("\"length\" and \"seconds\" must be above 0");
  return point;
}

ReferenceScore read_reference(const Line& line) {
  const json& object = line.object();
  return {line.name(object, "reference"), line.name(object, "task"),
          line.number_of(Line::field(object, "accuracy"), "accuracy", 1)};
}

ArenaPlan read_plan(const Line& line) {
  const json& object = Line::field(line.object(), "plan");
  if (!object.is_object()) line.fail("\"plan\" must be an object");
  ArenaPlan plan;
  plan.arena = line.name(object, "arena");
  plan.profile = line.text(object, "profile");
  for (const json& task : line.list(object, "tasks", kMaxPlan))
    plan.tasks.push_back(line.name_of(task, "tasks"));
  for (const json& row : line.list(object, "rows", kMaxPlan))
    plan.rows.push_back(line.name_of(row, "rows"));
  const json& seeds = Line::field(object, "seeds");
  if (seeds.is_array()) {
    for (const json& seed : line.list(object, "seeds", kMaxPlan))
      plan.seeds.push_back(line.seed_of(seed));
  } else {
    const uint64_t count = line.seed_of(seeds);
    if (count > kMaxPlan) line.fail(fmt::format("more than {} seeds in a plan", kMaxPlan));
    for (uint64_t seed = 1; seed <= count; ++seed) plan.seeds.push_back(seed);
  }
  if (plan.tasks.size() * plan.rows.size() * plan.seeds.size() > kMaxCurve)
    line.fail(fmt::format("a plan of more than {} runs", kMaxCurve));
  const json& seconds = Line::field(object, "seconds_per_run");
  if (seconds.is_null()) return plan;
  if (!seconds.is_object()) line.fail("\"seconds_per_run\" must be an object");
  for (const auto& [task, value] : seconds.items()) {
    if (!value.is_object()) {
      plan.seconds_per_run[{task, ""}] = line.number_of(value, "seconds_per_run", 1e9);
      continue;
    }
    for (const auto& [row, of_row] : value.items())
      plan.seconds_per_run[{task, row}] = line.number_of(of_row, "seconds_per_run", 1e9);
  }
  return plan;
}

// What a later run must have in common with an earlier one to replace it.
std::string key_of(const RunRecord& run) {
  std::string key =
      fmt::format("{}\n{}\n{}\n{}\n{}", run.arena, run.task, run.row, run.profile, run.seed);
  for (const auto& [name, value] : run.settings) key += "\n" + name + "\n" + value;
  return key;
}

void drop_replaced(std::vector<RunRecord>& runs) {
  std::unordered_set<std::string> later;
  std::vector<RunRecord> kept;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    if (later.insert(key_of(*run)).second) kept.push_back(std::move(*run));
  }
  std::reverse(kept.begin(), kept.end());
  runs = std::move(kept);
}

void add_line(const Line& line, const CompleteSettings& complete, RunRecords& records) {
  if (line.object().contains("plan")) {
    ArenaPlan plan = read_plan(line);
    std::erase_if(records.plans, [&](const ArenaPlan& old) {
      return old.arena == plan.arena && old.profile == plan.profile;
    });
    records.plans.push_back(std::move(plan));
  } else if (line.object().contains("reference")) {
    records.references.push_back(read_reference(line));
  } else if (line.object().contains("projection")) {
    RunProjection projection = read_projection(line);
    std::erase_if(records.projections, [&](const RunProjection& old) {
      return old.arena == projection.arena && old.profile == projection.profile &&
             old.task == projection.task && old.row == projection.row;
    });
    records.projections.push_back(std::move(projection));
  } else if (line.object().contains("arena")) {
    records.runs.push_back(read_run(line, complete));
  } else if (line.object().contains("mixer") || line.object().contains("bench") ||
             line.object().contains("of_linear_kernel")) {
    if (std::optional<LengthPoint> point = read_length_point(line))
      records.lengths.push_back(std::move(*point));
  } else {
    line.fail("is neither a run (\"arena\"), a \"plan\", a \"reference\" nor a \"projection\"");
  }
}

}  // namespace

void add_run_records(std::string_view content, std::string_view place, RunRecords& records,
                     const CompleteSettings& complete) {
  size_t number = 0;
  while (!content.empty()) {
    const size_t end = content.find('\n');
    const std::string_view text = content.substr(0, end);
    content.remove_prefix(end == content.npos ? content.size() : end + 1);
    ++number;
    if (text.find_first_not_of(" \t\r") == text.npos) continue;
    const std::string at = fmt::format("{}:{}", place, number);
    std::optional<Line> line;
    try {
      line.emplace(text, at);
    } catch (const Error&) {
      if (end != content.npos || number == 1) throw;
      records.notes.push_back(fmt::format("{} is cut short and was left out", at));
      break;
    }
    add_line(*line, complete, records);
  }
  drop_replaced(records.runs);
}

RunRecords read_run_records(const std::vector<std::filesystem::path>& files,
                            const CompleteSettings& complete) {
  RunRecords records;
  for (const auto& file : files)
    add_run_records(read_file(file, kMaxFile, Pipe::read), place_of(file), records, complete);
  return records;
}

}  // namespace linnet
