// eval.cpp -- linnet eval: how well a trained model does on data with labels.
#include <fmt/format.h>

#include <algorithm>

#include "cli/data_flags.h"
#include "cli/figures.h"
#include "cli/memory_flag.h"
#include "cli/streams.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "core/file.h"
#include "data/task_settings.h"
#include "models/model_folder.h"
#include "train/diagnosis.h"
#include "train/task_score.h"

namespace linnet {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string folder, data, memory;
  int threads = 0;
  bool json = false;
};

constexpr int kShownClasses = 20;  // of the matrix, in a terminal

void print_confusion(const ConfusionMatrix& matrix, const std::vector<std::string>& labels) {
  std::vector<std::vector<std::string>> table = {{"class", "records", "f1"}};
  const bool all = matrix.classes() <= kShownClasses;
  for (int c = 0; all && c < matrix.classes(); ++c)
    table[0].push_back("as " + printable(labels[static_cast<size_t>(c)], 12));
  for (int actual = 0; actual < matrix.classes(); ++actual) {
    std::vector<std::string> row = {printable(labels[static_cast<size_t>(actual)], 30),
                                    with_commas(matrix.actual(actual)),
                                    fmt::format("{:.4f}", matrix.f1(actual))};
    for (int c = 0; all && c < matrix.classes(); ++c)
      row.push_back(with_commas(matrix.count(actual, c)));
    table.push_back(std::move(row));
  }
  print_out("\n");
  write_out(format_table(table));
}

Json confusion_json(const ConfusionMatrix& matrix) {
  Json rows = Json::array();
  for (int actual = 0; actual < matrix.classes(); ++actual) {
    Json row = Json::array();
    for (int c = 0; c < matrix.classes(); ++c) row.push_back(matrix.count(actual, c));
    rows.push_back(std::move(row));
  }
  return rows;
}

void run(const Options& options, const DataFlags& flags) {
  Context context(options.threads, 1, MemoryBudget(options.memory));
  const LoadedModel loaded = load_model(options.folder, context.memory());
  const LoadedTask task = load_task(options.folder, loaded.config);
  const Model model(loaded.config);
  DataPart part{.path = options.data, .read = flags.options()};
  const std::vector<std::string> splits = splits_of(options.data, part.read);
  if (part.read.split.empty() && std::ranges::find(splits, "test") != splits.end())
    part.read.split = "test";
  const Clock::time_point start = Clock::now();
  const TaskScore score =
      score_part(context, model, loaded.values.data(), part,
                 ExampleMaker(task.settings, *task.tokenizer, loaded.config, true),
                 find_task(task.settings.task), *task.tokenizer);
  if (!score.finite) refuse_answer(options.folder, model, loaded.values.data());
  if (options.json) {
    Json json = {{"model", options.folder},
                 {"data", options.data},
                 {"task", task.settings.task},
                 {"count", score.count},
                 {"seconds", seconds_since(start)}};
    for (const auto& [name, value] : score.figures) json[name] = value;
    if (!task.settings.labels.empty()) json["labels"] = task.settings.labels;
    if (score.confusion) json["confusion"] = confusion_json(*score.confusion);
    write_json(json);
    return;
  }
  print_out("{} {}{}: {}\n", with_commas(score.count),
            loaded.config.task == "tokens" ? "tokens" : "records",
            part.read.split.empty() ? "" : " of " + part.read.split, figures_text(score));
  if (score.confusion) print_confusion(*score.confusion, task.settings.labels);
}

}  // namespace

void add_eval(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("eval", "How well a trained model does on labelled data");
  verb->footer("Example:\n  linnet eval model test.csv");
  verb->add_option("folder", options->folder, "Folder of the model")->required();
  verb->add_option("data", options->data, "File or folder; of a folder with splits, test")
      ->required();
  verb->add_option("--threads", options->threads, "0: all cores")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  add_memory_flag(*verb, options->memory);
  verb->add_flag("--json", options->json, "All figures as one JSON object");
  verb->callback([options, flags = DataFlags(*verb)] { run(*options, flags); });
}

}  // namespace linnet
