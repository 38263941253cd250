// train.cpp -- linnet train: one model, from a file of data to a model folder.
#include <fmt/format.h>

#include "cli/autotune.h"
#include "cli/data_flags.h"
#include "cli/figures.h"
#include "cli/interrupt.h"
#include "cli/memory.h"
#include "cli/memory_flag.h"
#include "cli/pretrain.h"
#include "cli/setting_flags.h"
#include "cli/streams.h"
#include "cli/terminal.h"
#include "cli/train_choices.h"
#include "cli/train_loop.h"
#include "cli/verbs.h"
#include "core/error.h"
#include "core/folder_lock.h"
#include "data/prepare.h"
#include "models/model_folder.h"
#include "models/profiles.h"
#include "train/pretraining_files.h"
#include "train/run.h"
#include "train/run_identity.h"
#include "train/run_memory.h"
#include "train/run_target.h"

namespace linnet {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  DataChoice choice;
  std::string out, memory;
  Recipe recipe;
  int threads = 0;
  double autotune = 0;  // minutes
  bool json = false, tensorboard = false, change_target = false;
};

Json result_of(const Run& run, const PreparedTask& prepared, const ModelConfig& config,
               const TaskScore& validation) {
  Json json = {{"task", prepared.task->name},
               {"steps", run.steps()},
               {"tokens", run.tokens()},
               {"seconds", run.seconds()},
               {"tokens_per_s", static_cast<double>(run.tokens()) / run.seconds()},
               {"parameters", Model(config).layout().parameters()},
               {"memory_mb", static_cast<double>(peak_memory()) * 1e-6}};
  json["validation"] = figures_json(validation);
  return json;
}

// What follows from where the weights come from.
void choose_start(const PretrainSettings& start, Options& options) {
  options.choice.mask_share = start.mask_share;
  options.choice.mask_span = start.mask_span;
  if (start.pretrain == "none" && !options.choice.unlabelled.empty())
    throw Error("[--unlabelled] is for pretraining: give --pretrain masked or causal");
  if (options.autotune > 0 && (start.pretrain != "none" || !options.recipe.init.empty()))
    throw Error(
        "[--autotune] searches models that begin from nothing: not with --pretrain or --init");
  if (options.recipe.init.empty()) return;
  if (!options.choice.tokenizer.empty())
    throw Error("[--tokenizer] the model of --init has its own, which its weights are for");
  options.choice.tokenizer = options.recipe.init;
}

// The content of the file that --tokenizer names; empty where it names a kind, or is not given.
std::string named_tokenizer(const DataChoice& choice) {
  const bool kind = std::ranges::any_of(
      tokenizers(), [&](const TokenizerKind* known) { return known->name == choice.tokenizer; });
  return kind || choice.tokenizer.empty() ? "" : load_tokenizer(choice.tokenizer)->file();
}

void run(Options options, const DataFlags& data_flags, const ConfigFlags& model_flags,
         const RunFlags& run_flags, const PretrainFlags& pretrain_flags) {
  check_recipe(options.recipe, options.choice.task);
  options.choice.read = data_flags.options();
  options.choice.learn_tokenizer = options.recipe.profile.empty();
  const PretrainSettings start = pretrain_flags.apply({});
  for (const char* name : {"pretrain_share", "pretrain_lr"}) {
    if (pretrain_flags.given(name) && start.pretrain == "none")
      throw Error(fmt::format("[train.{}] is for --pretrain masked or causal", name));
  }
  choose_start(start, options);
  const std::filesystem::path folder = options.out;
  const FolderLock lock(folder);
  const std::string tokenizer = named_tokenizer(options.choice);
  // Learnt by the run that is gone on with.
  for (const std::filesystem::path& place : {folder, folder / kPretrainFolder}) {
    check_folder(place, tokenizer);
    for (const TokenizerKind* kind : tokenizers()) {
      if (std::filesystem::exists(place / "run.json") &&
          std::filesystem::exists(place / kind->file))
        options.choice.tokenizer = place.string();
    }
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
  if (options.autotune == 0) model_flags.check_used({&config, 1});
  RunSettings whole = settings_of(prepared, options.recipe, run_flags);
  check_settings(config, *prepared.task, whole);  // before a search or pretraining
  take_target(folder, options.change_target);
  Context context(options.threads, static_cast<uint64_t>(whole.seed), MemoryBudget(options.memory));
  context.memory().check("to train", run_need(config, prepared, whole, context.threads()));
  {
    Progress progress("checking");
    check_later_parts(prepared, config, [&](const std::string& what, double done) {
      progress.show(std::max(done, 0.0), what);
    });
  }
  stop_on_signals();
  Json tuned;  // settings that a search has changed
  if (options.autotune > 0) {
    const Candidate chosen = autotune_train(context, folder, {options.autotune, options.json},
                                            prepared, config, whole, model_flags, run_flags);
    config = chosen.config;
    whole = chosen.settings;
    tuned = chosen.changes;
  }
  RunSettings settings = whole;
  std::optional<Pretraining> first;
  if (start.pretrain != "none") first = derive_pretraining(start, prepared, config, settings);
  const std::string& init = options.recipe.init;
  // A model that does not fit is refused before anything is written.
  if (!init.empty()) initial_values(Model(config), 0, init);
  check_start(folder, prepared, start, init);
  check_identity(folder, prepared, config, settings);
  save_start(folder, prepared, start, init);
  if (!options.json)
    say_choices(prepared, options.recipe, Model(config), whole, first ? &*first : nullptr);
  std::optional<Progress> bar("training");
  Json pretraining;
  const double share = first ? start.pretrain_share : 0;
  if (first)
    pretraining =
        pretrain(context, folder, *first, prepared, config, init, options.json, *bar, {0, share});
  Run run(context, folder, config, prepared, settings,
          first ? folder / kPretrainFolder : std::filesystem::path(init));
  if (options.tensorboard) run.write_events();
  train_to_end(run, options.json, *bar, {share, 1});
  bar.reset();
  const TaskScore best = run.score_validation();
  Json json = result_of(run, prepared, config, best);
  if (first) json["pretraining"] = pretraining;
  if (!options.json) print_out("\nvalidation: {}\n", figures_text(best));
  if (prepared.parts.test) {
    const TaskScore test = run.score_best(*prepared.parts.test);
    json["test"] = figures_json(test);
    if (!options.json) print_out("test:       {}\n", figures_text(test));
  }
  if (options.autotune > 0) json["autotune"] = tuned;
  json["folder"] = folder.string();
  if (options.json) {
    write_json(json);
    return;
  }
  print_out("{} steps, {} tokens in {:.0f} s{}; the best model is in {}\n",
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
      "--data shakespeare.txt --task lm --steps 500 --out model\n  linnet train --data imdb/ "
      "--pretrain masked --unlabelled imdb/ --minutes 60 --out model\n"
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
  verb->add_option("--row", options->recipe.row, "A row of the arena: " + profile_rows());
  verb->add_option("--autotune", options->autotune,
                   "Minutes to search settings in before; what flags give is not searched")
      ->check(CLI::Range(0.0, 1e6));
  verb->add_option("--unlabelled", choice.unlabelled,
                   "More texts to pretrain on: files or folders, of which the unlabelled split");
  verb->add_option("--init", options->recipe.init,
                   "Folder of a model to begin with: its encoder, settings and tokenizer");
  verb->add_option("--threads", options->threads, "0: all cores; the result does not depend on it")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  add_memory_flag(*verb, options->memory);
  verb->add_flag("--tensorboard", options->tensorboard,
                 "Also writes OUT/tensorboard: tensorboard --logdir OUT");
  verb->add_flag("--change-target", options->change_target,
                 "Go on with another CPU target than the run began with, by LINNET_TARGET or the "
                 "best: the result differs in its last bits");
  verb->add_flag("--json", options->json, "The result as one JSON object");
  verb->callback([options, data = DataFlags(*verb), run_flags = RunFlags(*verb),
                  pretrain_flags = PretrainFlags(*verb),
                  model = ConfigFlags(*verb, {"task", "vocab", "classes", "loss"})] {
    run(*options, data, model, run_flags, pretrain_flags);
  });
}

}  // namespace linnet
