// train.cpp -- linnet train: one model, from a file of data to a model folder.
#include <fmt/format.h>

#include "cli/data_flags.h"
#include "cli/figures.h"
#include "cli/memory.h"
#include "cli/pretrain.h"
#include "cli/setting_flags.h"
#include "cli/terminal.h"
#include "cli/train_choices.h"
#include "cli/train_loop.h"
#include "cli/verbs.h"
#include "core/error.h"
#include "core/folder_lock.h"
#include "data/prepare.h"
#include "models/model_folder.h"
#include "models/profiles.h"
#include "train/run.h"

namespace linnet {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  DataChoice choice;
  std::string out, row, init;
  int threads = 0;
  bool json = false;
};

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

// What follows from where the weights come from.
void choose_start(const PretrainSettings& start, Options& options) {
  options.choice.mask_share = start.mask_share;
  options.choice.mask_span = start.mask_span;
  if (start.pretrain == "none" && !options.choice.unlabelled.empty())
    throw Error("[--unlabelled] is for pretraining: give --pretrain masked or causal");
  if (options.init.empty()) return;
  if (!options.choice.tokenizer.empty())
    throw Error("[--tokenizer] the model of --init has its own, which its weights are for");
  options.choice.tokenizer = options.init;
}

void run(Options options, const DataFlags& data_flags, const ConfigFlags& model_flags,
         const RunFlags& run_flags, const PretrainFlags& pretrain_flags) {
  options.choice.read = data_flags.options();
  const PretrainSettings start = pretrain_flags.apply({});
  choose_start(start, options);
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
  ModelConfig config = model_of(prepared, options.row, options.init, model_flags);
  const RunSettings whole = settings_of(prepared, run_flags);
  RunSettings settings = whole;
  std::optional<Pretraining> first;
  if (start.pretrain != "none") first = derive_pretraining(start, prepared, config, settings);
  // A model that does not fit is refused before anything is written.
  if (!options.init.empty()) initial_values(Model(config), 0, options.init);
  check_start(folder, prepared, start, options.init);
  check_identity(folder, prepared, config, settings);
  save_tokenizer(*prepared.tokenizer, folder);
  Context context(options.threads, static_cast<uint64_t>(settings.seed));
  if (!options.json) say_choices(prepared, Model(config), whole, first ? &*first : nullptr);
  stop_on_signals();
  std::optional<Progress> bar("training");
  Json pretraining;
  const double share = first ? start.pretrain_share : 0;
  if (first)
    pretraining = pretrain(context, folder, *first, prepared, config, options.init, options.json,
                           *bar, {0, share});
  Run run(context, folder, config, prepared, settings,
          first ? folder / kPretrainFolder : std::filesystem::path(options.init));
  train_to_end(run, *prepared.task, options.json, *bar, {share, 1});
  bar.reset();
  const TaskScore best = run.score_best(prepared.parts.validation);
  Json json = result_of(run, prepared, best);
  if (first) json["pretraining"] = pretraining;
  if (!options.json) fmt::print("\nvalidation: {}\n", figures_text(best));
  if (prepared.parts.test) {
    const TaskScore test = run.score_best(*prepared.parts.test);
    for (const auto& [name, value] : test.figures) json["test"][name] = value;
    if (!options.json) fmt::print("test:       {}\n", figures_text(test));
  }
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
      "--data shakespeare.txt --task lm --steps 500 --out model\n  linnet train --data imdb/ "
      "--pretrain masked --unlabelled imdb/ --minutes 60 --out model\n"
      "The same command again goes on where it was stopped.");
  DataChoice& choice = options->choice;
  std::string names;
  for (const Task* task : tasks()) names += (names.empty() ? "" : ", ") + std::string(task->name);
  verb->add_option("--data", choice.data, "File or folder: `linnet data formats`")->required();
  verb->add_option("--out", options->out, "Folder of the model")->required();
  verb->add_option("--task", choice.task, "Guessed if not given: " + names);
  verb->add_option("--validation", choice.validation, "Data to choose the best model by");
  verb->add_option("--validation-share", choice.share, "Else this share of the data")
      ->capture_default_str();
  verb->add_option("--test", choice.test, "Data that the best model is tried on at the end");
  verb->add_option("--tokenizer", choice.tokenizer,
                   "A kind (`linnet list tokenizers`), or the file of one");
  verb->add_option("--vocab", choice.vocabulary, "Ids of a tokenizer that is learnt; 0: 8192")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 24));
  verb->add_option("--truncate", choice.truncate, "Of longer texts: head, tail or head+tail")
      ->capture_default_str();
  verb->add_option("--stride", choice.stride,
                   "Longer texts in windows so many tokens apart; 0: they are cut")
      ->capture_default_str();
  verb->add_option("--unlabelled", choice.unlabelled,
                   "More texts to pretrain on: files or folders, of which the unlabelled split");
  verb->add_option("--init", options->init,
                   "Folder of a model to begin with: its encoder, settings and tokenizer");
  verb->add_option("--row", options->row, "A row of the paper's Table 1: " + profile_rows());
  verb->add_option("--threads", options->threads, "0: all cores; the result does not depend on it")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  verb->add_flag("--json", options->json, "The result as one JSON object");
  verb->callback([options, data = DataFlags(*verb), run_flags = RunFlags(*verb),
                  pretrain_flags = PretrainFlags(*verb),
                  model = ConfigFlags(*verb, {"task", "vocab", "classes", "loss"})] {
    run(*options, data, model, run_flags, pretrain_flags);
  });
}

}  // namespace linnet
