// train.cpp -- linnet train: one model, from a file of data to a model folder.
#include <fmt/format.h>

#include <atomic>
#include <csignal>

#include "cli/autotune.h"
#include "cli/data_flags.h"
#include "cli/figures.h"
#include "cli/memory.h"
#include "cli/setting_flags.h"
#include "cli/terminal.h"
#include "cli/train_choices.h"
#include "cli/verbs.h"
#include "core/folder_lock.h"
#include "data/prepare.h"
#include "models/profiles.h"
#include "train/run.h"

namespace linnet {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  DataChoice choice;
  std::string out;
  Recipe recipe;
  int threads = 0;
  double autotune = 0;  // minutes
  bool json = false, tensorboard = false;
};

std::atomic<bool> interrupted = false;

// Until it is finished or the user stops it.
void train(Run& run, const Task& task, bool quiet) {
  const Clock::time_point start = Clock::now();
  const int64_t tokens_before = run.tokens();
  double smooth = 0;
  Progress progress("training");
  while (!run.finished() && !interrupted) {
    const int64_t looks = run.evaluations();
    const StepResult result = run.advance();
    smooth = smooth == 0 ? result.loss : 0.98 * smooth + 0.02 * result.loss;
    if (run.evaluations() > looks && !quiet && !stderr_is_terminal())
      fmt::print(stderr, "step {}: loss {:.4f}; validation: {}\n", run.steps(), smooth,
                 figures_text(run.last()));
    std::string note =
        fmt::format("step {}, loss {:.4f}, {} tokens/s", with_commas(run.steps()), smooth,
                    with_commas(static_cast<int64_t>(
                        static_cast<double>(run.tokens() - tokens_before) / seconds_since(start))));
    if (run.evaluations() > 0)
      note += fmt::format(", best {} {:.4f}", figure_name(task.metric), run.best());
    progress.show(run.progress(), note);
  }
}

Json result_of(const Run& run, const PreparedTask& prepared, const TaskScore& validation) {
  Json json = {{"task", prepared.task->name},
               {"steps", run.steps()},
               {"tokens", run.tokens()},
               {"seconds", run.seconds()},
               {"tokens_per_s", static_cast<double>(run.tokens()) / run.seconds()},
               {"parameters", run.model().layout().parameters()},
               {"memory_mb", static_cast<double>(peak_memory()) * 1e-6}};
  for (const auto& [name, value] : validation.figures) json["validation"][name] = value;
  return json;
}

void run(Options options, const DataFlags& data_flags, const ConfigFlags& model_flags,
         const RunFlags& run_flags) {
  check_recipe(options.recipe, options.choice.task);
  options.choice.read = data_flags.options();
  options.choice.learn_tokenizer = options.recipe.profile.empty();
  const std::filesystem::path folder = options.out;
  const FolderLock lock(folder);
  // Learnt by the run that is gone on with.
  for (const TokenizerKind* kind : tokenizers()) {
    if (std::filesystem::exists(folder / "run.json") &&
        std::filesystem::exists(folder / kind->file))
      options.choice.tokenizer = folder.string();
  }
  PreparedTask prepared;
  {
    Progress progress("preparing");
    prepared = prepare(options.choice, options.threads, [&](const std::string& what, double done) {
      progress.show(std::max(done, 0.0), what);
    });
    progress.show(1, fmt::format("{} records", with_commas(prepared.records)));
  }
  ModelConfig config = model_of(prepared, options.recipe, model_flags);
  RunSettings settings = settings_of(prepared, options.recipe, run_flags);
  Context context(options.threads, static_cast<uint64_t>(settings.seed));
  std::signal(SIGINT, [](int) { interrupted = true; });
  std::signal(SIGTERM, [](int) { interrupted = true; });
  Json tuned;  // settings that a search has changed
  if (options.autotune > 0) {
    const Candidate chosen =
        autotune_train(context, folder, {options.autotune, options.json}, prepared, config,
                       settings, model_flags, run_flags, interrupted);
    config = chosen.config;
    settings = chosen.settings;
    tuned = chosen.changes;
  }
  Run run(context, folder, config, prepared, settings);
  if (options.tensorboard) run.write_events();
  if (!options.json) {
    say_choices(prepared, options.recipe, run.model(), settings);
    if (run.resumed()) fmt::print("goes on from step {}\n\n", with_commas(run.steps()));
    std::fflush(stdout);
  }
  train(run, *prepared.task, options.json);
  run.save_checkpoint();
  if (interrupted) {
    fmt::print(stderr, "linnet: stopped at step {}; the same command goes on from there\n",
               run.steps());
    throw CLI::RuntimeError(130);
  }
  const TaskScore best = run.score_best(prepared.parts.validation);
  Json json = result_of(run, prepared, best);
  if (!options.json) fmt::print("\nvalidation: {}\n", figures_text(best));
  if (prepared.parts.test) {
    const TaskScore test = run.score_best(*prepared.parts.test);
    for (const auto& [name, value] : test.figures) json["test"][name] = value;
    if (!options.json) fmt::print("test:       {}\n", figures_text(test));
  }
  if (options.autotune > 0) json["autotune"] = tuned;
  json["folder"] = folder.string();
  if (options.json) {
    fmt::print("{}\n", json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    return;
  }
  fmt::print("{} steps, {} tokens in {:.0f} s{}; the best model is in {}\n",
             with_commas(run.steps()), with_commas(run.tokens()), run.seconds(),
             run.stopped_early() ? " (ended early: no gain any more)" : "", folder.string());
}

}  // namespace

void add_train(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("train", "Trains a model on your data");
  verb->footer(
      "Examples:\n  linnet train --data reviews.csv --out model\n  linnet train --data imdb/ "
      "--tokenizer bytes --length 4000 --row 2xoglu --minutes 15 --out model\n  linnet train "
      "--data shakespeare.txt --task lm --steps 500 --out model\n"
      "The same command again goes on where it was stopped.");
  DataChoice& choice = options->choice;
  std::string names;
  for (const Task* task : tasks()) names += (names.empty() ? "" : ", ") + std::string(task->name);
  verb->add_option("--out", options->out, "Folder of the model")->required();
  verb->add_option("--task", choice.task, "Guessed if not given: " + names);
  add_choice_flags(*verb, choice);
  verb->add_option("--profile", options->recipe.profile,
                   "Model and training as in an arena: " + profile_names() + "; for the tasks " +
                       profile_tasks());
  verb->add_option("--row", options->recipe.row, "A row of the paper's Table 1: " + profile_rows());
  verb->add_option("--autotune", options->autotune,
                   "Minutes to search settings in before; what flags give is not searched")
      ->check(CLI::Range(0.0, 1e6));
  verb->add_option("--threads", options->threads, "0: all cores; the result does not depend on it")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  verb->add_flag("--tensorboard", options->tensorboard,
                 "Also writes OUT/tensorboard: tensorboard --logdir OUT");
  verb->add_flag("--json", options->json, "The result as one JSON object");
  verb->callback([options, data = DataFlags(*verb), run_flags = RunFlags(*verb),
                  model = ConfigFlags(*verb, {"task", "vocab", "classes", "loss"})] {
    run(*options, data, model, run_flags);
  });
}

}  // namespace linnet
