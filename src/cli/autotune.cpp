// autotune.cpp -- linnet train --autotune: searches settings, and says what it sees.
#include "cli/autotune.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/figures.h"
#include "cli/interrupt.h"
#include "cli/streams.h"
#include "cli/terminal.h"
#include "core/error.h"
#include "core/file.h"
#include "train/autotune.h"
#include "train/run.h"

namespace linnet {
namespace {

// "lr 0.006, dropout 0.2".
std::string changes_text(const Candidate& candidate) {
  std::string text;
  for (const auto& [name, value] : candidate.changes.items())
    text +=
        fmt::format("{}{} {:g}", text.empty() ? "" : ", ", figure_name(name), value.get<double>());
  return text.empty() ? "as it is" : text;
}

std::string score_text(const TuningLook& look) {
  return !look.error.empty() ? "failed" : fmt::format("{:.4f}", look.score);
}

void print_ranking(const std::vector<TuningLook>& looks, const std::vector<Candidate>& candidates,
                   std::string_view metric) {
  std::vector<std::vector<std::string>> table = {
      {"candidate", figure_name(metric), "steps", "seconds", "", "settings"}};
  for (size_t i = 0; i < looks.size(); ++i) {
    const bool goes_on = i < looks.size() / 2;
    table.push_back({fmt::format("{}", looks[i].candidate), score_text(looks[i]),
                     with_commas(looks[i].steps), fmt::format("{:.0f}", looks[i].seconds),
                     !goes_on                           ? ""
                     : looks[i].round < looks[i].rounds ? "goes on"
                                                        : "chosen",
                     changes_text(candidates[looks[i].candidate])});
  }
  print_out("\nautotune, round {} of {}\n", looks[0].round, looks[0].rounds);
  write_out(format_table(table));
  if (looks[0].round == looks[0].rounds) print_out("\n");
  flush_out();
}

}  // namespace

Candidate autotune_train(Context& context, const std::filesystem::path& folder,
                         const AutotuneOptions& options, const PreparedTask& prepared,
                         const ModelConfig& config, const RunSettings& settings,
                         const ConfigFlags& model_flags, const RunFlags& run_flags) {
  if (std::filesystem::exists(folder / "run.json") &&
      !std::filesystem::exists(folder / "autotune.jsonl")) {
    throw Error(fmt::format("[{}] has a run that began without a search: take another --out",
                            place_of(folder)));
  }
  const std::vector<Candidate> candidates = tuning_candidates(
      *prepared.task, config, settings,
      [&](const std::string& name) { return model_flags.given(name) || run_flags.given(name); });
  const std::string_view metric = metric_of(*prepared.task, settings);
  Progress progress("autotune");
  const Clock::time_point start = Clock::now();
  TuningWatch watch;
  watch.stop = [&] {
    progress.show(std::min(seconds_since(start) / (60 * options.minutes), 1.0), "");
    return interrupted();
  };
  watch.look = [&](const TuningLook& look) {
    if (options.quiet || stderr_is_terminal()) return;
    print_note("autotune, round {} of {}: candidate {} ({}): {} {}, {} steps, {:.0f} s{}\n",
               look.round, look.rounds, look.candidate, changes_text(candidates[look.candidate]),
               figure_name(metric), score_text(look), with_commas(look.steps), look.seconds,
               look.error.empty() ? "" : ": " + look.error);
  };
  watch.ranking = [&](const std::vector<TuningLook>& looks) {
    if (!options.quiet) print_ranking(looks, candidates, metric);
  };
  const std::optional<size_t> chosen =
      autotune(context, folder, options.minutes, prepared, candidates, watch);
  if (!chosen) {
    print_note("linnet: stopped while searching; the same command goes on from there\n");
    throw CLI::RuntimeError(130);
  }
  return candidates[*chosen];
}

}  // namespace linnet
