// arena_projection.cpp -- measures steps and a look, and reckons with them.
//
//   whole run = steps * (tokens of a step / tokens a second) + looks * (seconds of a look)
//
// Tokens a second is the median over the steps but the first, which waits for its data, so that a
// neighbour who takes the core for one of them changes nothing. A look is measured on one batch of
// validation and scaled to its records.
#include "cli/arena_projection.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/measure.h"
#include "cli/memory.h"
#include "cli/provenance.h"
#include "core/error.h"
#include "core/file.h"
#include "core/folder.h"
#include "core/folder_lock.h"
#include "train/run.h"
#include "train/run_log.h"
#include "train/run_target.h"

namespace linnet {
namespace {

using Json = nlohmann::ordered_json;

struct Measured {
  std::vector<double> tokens_per_s;  // of each step
  double tokens = 0;                 // of all steps
  double look = 0;                   // seconds
};

Measured read_metrics(const std::filesystem::path& path) {
  const RunLog log = load_run_log(path);
  if (log.looks.empty() || log.looks.back().steps == 0)
    throw Error(fmt::format("[{}] has no look at validation after a step", place_of(path)));
  Measured measured;
  for (const RunLog::Step& step : log.steps) measured.tokens_per_s.push_back(step.tokens_per_s);
  measured.tokens = log.steps.back().tokens;
  const RunLog::Look& look = log.looks.back();
  measured.look = look.seconds - log.steps[look.steps - 1].seconds;
  return measured;
}

}  // namespace

std::optional<Json> project_run(
    Context& context, const ArenaRun& run, const PreparedTask& prepared, int64_t steps,
    const std::function<bool()>& stop,
    const std::function<void(double done, const std::string& note)>& show) {
  if (run.settings.steps == 0 || run.settings.epochs > 0 || run.settings.minutes > 0)
    throw Error("[--project] is of runs that end by their --steps alone");
  if (!remove_own_folder(run.folder))
    throw Error(
        fmt::format("[{}] was not made by linnet, and is in the way", place_of(run.folder)));
  make_own_folder(run.folder);
  const FolderLock lock(run.folder);
  RunSettings settings = run.settings;
  settings.steps = steps;
  settings.evaluations = 1;
  settings.validation_rows = std::min(settings.batch, settings.validation_rows);
  const std::string started = utc_now(), commit = source_commit();
  take_target(run.folder, false);  // the usual one: the run before may have had its own
  reset_peak_memory();
  Run training(context, run.folder, run.config, prepared, settings);
  while (!training.finished()) {
    if (stop()) return std::nullopt;
    training.advance();
    show(training.progress(), "measuring");
  }
  const auto peak = static_cast<double>(peak_memory());
  const Measured measured = read_metrics(std::filesystem::path(run.folder) / "metrics.jsonl");
  const double rate = median({measured.tokens_per_s.begin() + 1, measured.tokens_per_s.end()});
  const double step = measured.tokens / static_cast<double>(steps) / rate;
  const int64_t rows = std::min(prepared.validation_records, run.settings.validation_rows);
  const double look = measured.look * static_cast<double>(rows) /
                      static_cast<double>(std::min(rows, settings.validation_rows));
  const auto whole = static_cast<double>(run.settings.steps) * step +
                     static_cast<double>(run.settings.evaluations) * look;
  return Json{{"projection", run.arena},
              {"task", run.task},
              {"row", run.row},
              {"profile", run.profile},
              {"commit", commit},
              {"machine", machine_name()},
              {"started", started},
              {"parameters", training.model().layout().parameters()},
              {"measured_steps", steps},
              {"tokens_per_s", rate},
              {"step_seconds", step},
              {"look_seconds", look},
              {"peak_mb", peak * 1e-6},
              {"steps", run.settings.steps},
              {"looks", run.settings.evaluations},
              {"seconds", whole}};
}

}  // namespace linnet
