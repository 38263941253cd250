// run_records.h -- the runs of arenas as they stand in .jsonl files: one JSON object a line.
//
// A line is a run ("arena", "task", "row", "seed", "status" and what it measured), a plan ("plan":
// the tasks, rows and seeds that an arena shall have) or a reference ("reference": a known accuracy
// of a task), a projection ("projection": what a run would take) or a measurement of
// `linnet bench mixers` ("mixer", "length"). docs/report.md has the fields.
// Files may come from anybody: a wrong line is an Error with file and line; names are made fit for
// a terminal here, once (printable in core/file.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace linnet {

inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

struct RunScores {
  double loss = kNotMeasured, accuracy = kNotMeasured;
};

struct RunCurvePoint {
  double step = kNotMeasured, seconds = kNotMeasured, loss = kNotMeasured;
  double validation_loss = kNotMeasured, validation_accuracy = kNotMeasured;
};

struct RunRecord {
  std::string arena, task, row, profile;
  uint64_t seed = 0;
  bool ok = false;  // then test.accuracy is there
  std::string error, commit, machine, started;
  std::map<std::string, std::string> settings;  // "outer.inner" to JSON text; no seeds
  double seconds = kNotMeasured, steps = kNotMeasured, tokens = kNotMeasured, flops = kNotMeasured;
  double parameters = kNotMeasured, peak_mb = kNotMeasured, tokens_per_s = kNotMeasured;
  RunScores validation, test;
  std::vector<RunCurvePoint> curve;
  std::string place;  // file:line
};

struct ReferenceScore {
  std::string name, task;
  double accuracy;
};

struct ArenaPlan {
  std::string arena, profile;  // profile may be empty: any
  std::vector<std::string> tasks, rows;
  std::vector<uint64_t> seeds;
  // By task and row; row "" is every row of the task.
  std::map<std::pair<std::string, std::string>, double> seconds_per_run;
};

// What one run would take, from some of its steps.
struct RunProjection {
  std::string arena, task, row, profile, commit, machine;
  double parameters = kNotMeasured, tokens_per_s = kNotMeasured, peak_mb = kNotMeasured;
  double measured_steps = kNotMeasured, step_seconds = kNotMeasured, look_seconds = kNotMeasured;
  double steps = kNotMeasured, looks = kNotMeasured;
  double seconds = kNotMeasured;  // of the whole run
  std::string place;              // file:line
};

// One sequence through one token mixer.
struct LengthPoint {
  std::string mixer;
  bool training = false;  // else inference
  double length = 0, seconds = 0, memory_mb = kNotMeasured;
};

struct RunRecords {
  std::vector<RunRecord> runs;
  std::vector<RunProjection> projections;
  std::vector<ReferenceScore> references;
  std::vector<ArenaPlan> plans;
  std::vector<LengthPoint> lengths;
  std::vector<std::string> notes;  // sentences about what was left out
};

// Files in their order. A later run with the same arena, task, row, profile, seed and settings
// replaces an earlier one, so do a plan of an arena and profile and a projection of a row. A last
// line without its line break that is no JSON is being written at the moment: it is left out, with
// a note.
// `complete` adds to the settings of a run ("model" and "train") what an earlier version does not
// name, so that it stands beside later ones.
using CompleteSettings = std::function<nlohmann::json(nlohmann::json)>;
RunRecords read_run_records(const std::vector<std::filesystem::path>& files,
                            const CompleteSettings& complete = {});
// The content of one file, added to `records`.
void add_run_records(std::string_view content, std::string_view place, RunRecords& records,
                     const CompleteSettings& complete = {});

}  // namespace linnet
