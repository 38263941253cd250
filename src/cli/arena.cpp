// arena.cpp -- linnet arena: models x tasks x seeds; the flags and the file that name them.
#include <fmt/format.h>

#include <algorithm>

#include "cli/arena_contest.h"
#include "cli/flag_checks.h"
#include "cli/interrupt.h"
#include "cli/memory_flag.h"
#include "cli/verbs.h"
#include "core/error.h"
#include "core/file.h"
#include "models/profiles.h"

namespace linnet {
namespace {

// "90", "90s", "20m", "1.5h" to seconds.
double parse_budget(const std::string& text) {
  const bool unit = text.find_last_of("smh") + 1 == text.size();
  const std::string number = text.substr(0, text.size() - unit);
  const double factor = text.ends_with('m') ? 60 : text.ends_with('h') ? 3600 : 1;
  const double value = is_number(number) ? std::stod(number) : 0;
  if (!(value > 0)) {
    throw Error(fmt::format("[--budget] must be a time such as 90s, 20m or 1.5h, not \"{}\"",
                            printable(text, 40)));
  }
  return value * factor;
}

// What the file says and no flag does.
void add_spec(const CLI::App& verb, ArenaOptions& options) {
  if (options.spec.empty()) return;
  ArenaSpec spec = parse_arena_spec(read_file(options.spec, size_t{1} << 20, Pipe::read),
                                    place_of(options.spec));
  const auto open = [&](const char* flag) { return verb.count(flag) == 0; };
  if (!spec.name.empty() && open("--name")) options.name = spec.name;
  if (!spec.profile.empty() && open("--profile")) options.profile = spec.profile;
  if (!spec.tasks.empty() && open("--task")) options.tasks = spec.tasks;
  if (spec.seeds > 0 && open("--seeds")) options.seeds = spec.seeds;
  for (const auto& [task, path] : spec.data)
    options.data.insert(options.data.begin(), task + "=" + path);  // those of flags replace them
  options.settings = spec.settings;
  for (ArenaRow& row : spec.rows) {
    if (open("--row") || std::ranges::find(options.names, row.name) != options.names.end())
      options.rows.push_back(std::move(row));
  }
}

void run(ArenaOptions options, const ConfigFlags& model, const RunFlags& train) {
  if (options.tasks.empty()) options.tasks = {"listops", "text", "matching"};
  if ((options.names.empty() && options.rows.empty()) || options.table1)
    options.names = table1_rows();
  for (const std::string& name : options.names) {
    if (std::ranges::find(options.rows, name, &ArenaRow::name) == options.rows.end())
      options.rows.push_back({.name = name, .row = name});
  }
  options.names.clear();
  std::vector<ModelConfig> models;
  for (const ArenaRow& row : options.rows) {
    options.names.push_back(row.name);
    for (const std::string& task : options.tasks)
      models.push_back(
          model.apply(arena_model(options.profile, task, options.settings, row).config));
  }
  model.check_used(models);
  stop_on_signals();
  run_contest(options, model, train);
}

}  // namespace

void add_arena(CLI::App& app) {
  auto options = std::make_shared<ArenaOptions>();
  auto budget = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("arena", "Compares models over tasks and seeds");
  verb->footer(
      "Examples:\n  linnet arena --table1 --profile desk --data text=imdb --data "
      "matching=peerread_citations --budget 20m\n  linnet arena --task listops --row "
      "linear-kernel,2xoglu --seeds 3 --steps 200\n  linnet arena --spec mine.json\nThe same "
      "command again goes on; linnet report "
      "shows what there is.");
  verb->add_option("--name", options->name, "Of the arena, in its records")->capture_default_str();
  verb->add_option("--task", options->tasks, profile_tasks() + "; all if not given")
      ->delimiter(',');
  verb->add_option("--row", options->names, profile_rows() + "; the nine of Table 1 if not given")
      ->delimiter(',');
  verb->add_flag("--table1", options->table1, "The nine rows of the paper's Table 1")
      ->excludes("--row");
  verb->add_option("--seeds", options->seeds, "1 to so many")
      ->check(CLI::Range(int64_t{1}, int64_t{1000}))
      ->capture_default_str();
  verb->add_option("--profile", options->profile, profile_names())->capture_default_str();
  verb->add_option("--spec", options->spec,
                   "JSON file of name, profile, tasks, seeds, data and rows with settings of "
                   "their own; docs/arena.md");
  verb->add_option("--data", options->data, "TASK=PATH; ListOps is made if not given");
  verb->add_option("--dir", options->folder, "Folder of unfinished runs and made data")
      ->capture_default_str();
  verb->add_option("--results", options->results,
                   "File of records; DIR/results.jsonl if not given");
  verb->add_option("--budget", *budget, "Stops after this time, e.g. 20m; goes on next time");
  verb->add_option("--project", options->project,
                   "Instead: so many steps of each row, and what the whole would take")
      ->check(CLI::Range(int64_t{2}, int64_t{1} << 20));
  verb->add_flag("--retry", options->retry, "Runs that failed are tried again");
  verb->add_flag("--change-target", options->change_target,
                 "Unfinished runs go on with another CPU target than they began with");
  verb->add_option("--threads", options->threads, "0: all cores")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  add_memory_flag(*verb, options->memory);
  verb->callback([options, budget, verb, run_flags = RunFlags(*verb, {"seed"}),
                  model = ConfigFlags(*verb, {"task", "vocab", "classes", "loss"})] {
    if (!budget->empty()) options->budget = parse_budget(*budget);
    add_spec(*verb, *options);
    run(*options, model, run_flags);
  });
}

}  // namespace linnet
