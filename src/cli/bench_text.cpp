// bench_text.cpp -- linnet bench text: a model and its rivals on one file of labelled texts.
#include "cli/bench_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/data_flags.h"
#include "cli/interrupt.h"
#include "cli/memory_flag.h"
#include "cli/setting_flags.h"
#include "cli/streams.h"
#include "cli/terminal.h"
#include "cli/text_rivals.h"
#include "cli/train_choices.h"
#include "core/error.h"
#include "core/file.h"
#include "core/folder.h"
#include "models/profiles.h"
#include "train/run.h"

namespace linnet {

extern const TextRival kNaiveBayesRival, kFastTextRival;

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const TextRival* kRivals[] = {&kNaiveBayesRival, &kFastTextRival};
constexpr size_t kMostClasses = 1000;

struct Options {
  DataChoice choice;
  Recipe recipe;
  std::vector<std::string> against = {"nb"};
  std::string memory;
  int threads = 0, seeds = 1;
  bool json = false;
};

void stop_if_interrupted() {
  if (interrupted()) throw CLI::RuntimeError(130);
}

PreparedTask prepare_texts(const Options& options, const TextShow& show) {
  PreparedTask prepared = prepare(options.choice, options.threads,
                                  [&](const std::string& what, double) { show(what); });
  const std::string place = place_of(prepared.parts.train.path);
  if (prepared.format->pixels) throw Error(fmt::format("[{}] holds images, not texts", place));
  if (prepared.many_labels)
    throw Error(fmt::format("[{}] has texts with several labels: rivals give one each", place));
  if (prepared.settings.labels.size() > kMostClasses) {
    throw Error(fmt::format("[{}] has {} classes: at most {} can be compared", place,
                            prepared.settings.labels.size(), kMostClasses));
  }
  return prepared;
}

// As `linnet train` does it.
TextFigures run_linnet(const TextContest& contest, const ModelConfig& config,
                       const RunSettings& settings, double preparing) {
  const fs::path folder = contest.folder / fmt::format("linnet{}", settings.seed);
  make_own_folder(folder);
  Run run(contest.context, folder, config, contest.prepared, settings);
  while (!run.finished()) {
    stop_if_interrupted();
    run.advance();
    contest.show(fmt::format("linnet: {:.0f}%, {} steps, best validation {:.4f}",
                             100 * run.progress(), with_commas(run.steps()), run.best()));
  }
  run.fit_sides([&](const std::string& what) {
    stop_if_interrupted();
    contest.show("linnet: " + what);
  });
  TextFigures figures{
      .model = "linnet",
      .settings = fmt::format("{}, {} blocks of width {}, {} tokens, {} steps", mixers_text(config),
                              config.blocks, config.width, config.length, run.steps())};
  figures.seconds = figures.search_seconds = preparing + run.seconds();
  for (const char* file : {"model.safetensors", "config.json"})
    figures.bytes += static_cast<int64_t>(fs::file_size(folder / file));
  for (const TokenizerKind* kind : tokenizers()) {
    if (fs::exists(folder / kind->file))
      figures.bytes += static_cast<int64_t>(fs::file_size(folder / kind->file));
  }
  const Clock::time_point start = Clock::now();
  TaskScore score = run.score_best(contest.scored);
  figures.texts = score.count;
  figures.texts_per_s = static_cast<double>(score.count) / seconds_since(start);
  if (!contest.prepared.parts.test) score = run.score_validation();
  figures.accuracy = score.figure("accuracy");
  figures.macro_f1 = score.figure("macro_f1");
  remove_own_folder(folder);
  return figures;
}

// One row for all seeds.
TextFigures mean_of(const std::vector<TextFigures>& seeds) {
  const auto n = static_cast<double>(seeds.size());
  TextFigures mean = seeds.front();
  const auto over = [&](double TextFigures::*figure) {
    mean.*figure = 0;
    for (const TextFigures& f : seeds) mean.*figure += f.*figure / n;
  };
  for (double TextFigures::*figure :
       {&TextFigures::accuracy, &TextFigures::macro_f1, &TextFigures::seconds,
        &TextFigures::search_seconds, &TextFigures::texts_per_s})
    over(figure);
  double squares = 0;
  for (const TextFigures& f : seeds) squares += std::pow(f.accuracy - mean.accuracy, 2);
  mean.model = fmt::format("linnet, mean of {}", seeds.size());
  mean.settings +=
      fmt::format("; deviation of the accuracy {:.2f} points", 100 * std::sqrt(squares / (n - 1)));
  return mean;
}

void print_json(const TextFigures& f, const TextContest& contest) {
  write_json(Json{{"model", f.model},
                  {"settings", f.settings},
                  {"part", contest.prepared.parts.test ? "test" : "validation"},
                  {"texts", f.texts},
                  {"accuracy", f.accuracy},
                  {"macro_f1", f.macro_f1},
                  {"seconds", f.seconds},
                  {"search_seconds", f.search_seconds},
                  {"bytes", f.bytes},
                  {"texts_per_s", f.texts_per_s},
                  {"threads", contest.context.threads()}});
  flush_out();
}

// What was not left out for the choice is trained on again where there is a test.
std::string trained_on(const PreparedTask& prepared) {
  return with_commas(prepared.records) +
         (prepared.parts.test ? fmt::format(" and then {} of validation too",
                                            with_commas(prepared.validation_records))
                              : "");
}

void print_table(const std::vector<TextFigures>& all, const TextContest& contest) {
  std::vector<std::vector<std::string>> table = {
      {"model", "accuracy", "macro F1", "seconds", "with choice", "MB", "texts/s", "settings"}};
  for (const TextFigures& f : all) {
    table.push_back({f.model, fmt::format("{:.2f}%", 100 * f.accuracy),
                     fmt::format("{:.4f}", f.macro_f1), fmt::format("{:.1f}", f.seconds),
                     fmt::format("{:.1f}", f.search_seconds),
                     fmt::format("{:.1f}", static_cast<double>(f.bytes) * 1e-6),
                     with_commas(static_cast<int64_t>(f.texts_per_s)), f.settings});
  }
  print_out("\nOn {} texts of {}, trained on {}, {} threads\n", with_commas(all[0].texts),
            contest.prepared.parts.test
                ? "test"
                : "validation, by which settings were chosen too: name other data with --test",
            trained_on(contest.prepared), contest.context.threads());
  write_out(format_table(table));
}

void run(Options options, const DataFlags& data_flags, const ConfigFlags& model_flags,
         const RunFlags& run_flags) {
  options.choice.read = data_flags.options();
  options.choice.task = "text";
  std::vector<const TextRival*> rivals;
  for (const TextRival* rival : kRivals) {
    if (std::ranges::find(options.against, rival->name) == options.against.end()) continue;
    if (rival->check) rival->check();
    rivals.push_back(rival);
  }
  stop_on_signals();
  const TemporaryFolder folder;
  Progress progress("bench text");
  const TextShow show = [&](const std::string& what) {
    stop_if_interrupted();
    progress.show(0, what);
  };
  const Clock::time_point start = Clock::now();
  const PreparedTask prepared = prepare_texts(options, show);
  const double preparing = seconds_since(start);
  const RunSettings settings = settings_of(prepared, options.recipe, run_flags);
  const ModelConfig config = model_of(prepared, options.recipe, model_flags);
  model_flags.check_used({&config, 1});
  Context context(options.threads, static_cast<uint64_t>(settings.seed),
                  MemoryBudget(options.memory));
  check_later_parts(prepared, config, [&](const std::string& what, double) { show(what); });
  const TextContest contest{.context = context,
                            .prepared = prepared,
                            .scored = prepared.parts.test.value_or(prepared.parts.validation),
                            .folder = folder.path(),
                            .show = show};
  std::vector<TextFigures> all;
  const auto add = [&](const std::vector<TextFigures>& some) {
    stop_if_interrupted();
    for (const TextFigures& figures : some) {
      all.push_back(figures);
      if (options.json) print_json(figures, contest);
    }
  };
  std::vector<TextFigures> ours;
  for (int seed = 0; seed < options.seeds; ++seed) {
    RunSettings own = settings;
    own.seed += seed;
    ours.push_back(run_linnet(contest, config, own, preparing));
    if (options.seeds > 1) ours.back().model += fmt::format(", seed {}", own.seed);
    add({ours.back()});
  }
  if (options.seeds > 1) add({mean_of(ours)});
  for (const TextRival* rival : rivals) add(rival->run(contest));
  progress.show(1, "");
  if (!options.json) print_table(all, contest);
}

}  // namespace

void add_bench_text(CLI::App& bench) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = bench.add_subcommand(
      "text", "A model beside quick rivals on your labelled texts: accuracy, time, size");
  verb->footer(
      "Examples:\n  linnet bench text --data imdb --against nb,fasttext\n  linnet bench text "
      "--data train.csv --test test.csv --minutes 2 --json\n"
      "The model is the one that linnet train would make of the same flags.");
  std::vector<std::string> names;
  std::string help = "Rivals in the same run, with commas between:";
  for (const TextRival* rival : kRivals) {
    names.emplace_back(rival->name);
    help += fmt::format("{} {} ({})", names.size() > 1 ? "," : "", rival->name, rival->summary);
  }
  add_choice_flags(*verb, options->choice);
  verb->add_option("--against", options->against, help)
      ->delimiter(',')
      ->check(CLI::IsMember(names))
      ->capture_default_str();
  verb->add_option("--row", options->recipe.row, "A row of the arena: " + profile_rows());
  verb->add_option("--seeds", options->seeds,
                   "Trains so many models, from --seed on, and their mean")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->add_option("--threads", options->threads, "0: all cores")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  add_memory_flag(*verb, options->memory);
  verb->add_flag("--json", options->json, "One JSON object a model");
  verb->callback([options, data = DataFlags(*verb), run_flags = RunFlags(*verb),
                  model = ConfigFlags(*verb, {"task", "vocab", "classes", "loss"})] {
    run(*options, data, model, run_flags);
  });
}

}  // namespace linnet
