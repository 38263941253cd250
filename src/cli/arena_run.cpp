// arena_run.cpp -- trains, tests, and tells what it cost.
#include "cli/arena_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/figures.h"
#include "cli/memory.h"
#include "cli/provenance.h"
#include "core/folder.h"
#include "core/folder_lock.h"
#include "train/run.h"
#include "train/run_log.h"
#include "train/run_target.h"

namespace linnet {
namespace {

struct Stopped {};  // on the way to a model's last parts

using Json = nlohmann::ordered_json;

// The looks at validation of a run, each with the mean loss of the steps before it.
Json curve_of(const std::filesystem::path& metrics) {
  Json curve = Json::array();
  const RunLog log = load_run_log(metrics);
  for (size_t i = 0; i < log.looks.size(); ++i) {
    const RunLog::Look& look = log.looks[i];
    curve.push_back({{"step", look.step},
                     {"seconds", look.seconds},
                     {"loss", log.mean_loss_before(i)},
                     {"validation_loss", look.validation_loss},
                     {"validation_accuracy", look.validation_accuracy}});
  }
  return curve;
}

Json settings_json(const ArenaRun& run, const PreparedTask& prepared) {
  Json train = run_settings_to_json(run.settings);
  train.erase("seed");
  return {{"model", config_to_json(run.config)},
          {"train", train},
          {"data", {{"format", prepared.format->name}, {"records", prepared.records}}},
          {"tokenizer", prepared.tokenizer->kind()}};
}

}  // namespace

std::optional<Json> run_in_arena(
    Context& context, const ArenaRun& run, const PreparedTask& prepared,
    const std::function<bool()>& stop,
    const std::function<void(double done, const std::string& note)>& show) {
  take_target(run.folder, run.change_target);  // first: the record tells of it
  Json record = {{"arena", run.arena},
                 {"task", run.task},
                 {"row", run.row},
                 {"profile", run.profile},
                 {"seed", run.seed},
                 {"status", "ok"},
                 {"settings", settings_json(run, prepared)},
                 {"commit", source_commit()},
                 {"machine", machine_name()},
                 {"started", utc_now()}};
  make_own_folder(run.folder);
  const FolderLock lock(run.folder);
  try {
    reset_peak_memory();
    Run training(context, run.folder, run.config, prepared, run.settings);
    record["parameters"] = Model(run.config).layout().parameters();
    while (!training.finished()) {
      if (stop()) {
        training.save_checkpoint();
        return std::nullopt;
      }
      const StepResult result = training.advance();
      show(training.progress(),
           fmt::format("loss {:.3f}{}", result.loss,
                       training.evaluations() > 0
                           ? fmt::format(", validation {} {:.3f}", figure_name(training.metric()),
                                         training.best())
                           : ""));
    }
    training.fit_sides([&](const std::string& what) {
      if (stop()) {
        training.save_checkpoint();
        throw Stopped{};
      }
      show(1, what);
    });
    const double seconds = training.seconds();
    record["seconds"] = seconds;
    record["steps"] = training.steps();
    record["tokens"] = training.tokens();
    record["tokens_per_s"] = static_cast<double>(training.tokens()) / seconds;
    // A backward costs twice its forward. All sequences are counted at their mean length.
    const double tokens = static_cast<double>(training.tokens()),
                 sequences = training.epochs() * static_cast<double>(prepared.records) *
                             static_cast<double>(training.model().sequences());
    const int64_t T = std::max<int64_t>(1, std::llround(tokens / sequences));
    record["flops"] =
        3 * training.model().forward_flops(T, false) / static_cast<double>(T) * tokens;
    record["peak_mb"] = static_cast<double>(peak_memory()) * 1e-6;
    record["validation"] = figures_json(training.score_validation());
    record["test"] = prepared.parts.test ? figures_json(training.score_best(*prepared.parts.test))
                                         : record["validation"];
    record["curve"] = curve_of(std::filesystem::path(run.folder) / "metrics.jsonl");
  } catch (const Stopped&) {
    return std::nullopt;
  } catch (const Diverged& error) {  // of other faults the model is not guilty
    record["status"] = "failed";
    record["error"] = error.what();
  }
  return record;
}

}  // namespace linnet
