// quickstart.cpp -- linnet quickstart: makes ListOps data, trains three models side by side, prints
// the table.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/memory.h"
#include "cli/memory_flag.h"
#include "cli/setting_flags.h"
#include "cli/streams.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "core/error.h"
#include "core/file.h"
#include "core/folder.h"
#include "core/random.h"
#include "data/listops.h"
#include "models/model_folder.h"
#include "models/profiles.h"
#include "train/run_memory.h"

namespace linnet {
namespace {

struct Options {
  std::string folder = "quickstart", memory;
  uint64_t seed = 1;
  int threads = 0;
  int64_t steps = 2000;
  std::vector<std::string> rows;
  bool json = false;
};

struct Entry {
  std::string name;
  ModelConfig config;
};
constexpr int64_t kTrainRows = 64000, kTestRows = 2000, kBatch = 64;

using Json = nlohmann::ordered_json;

std::vector<Example> to_examples(const std::vector<ListopsExample>& rows) {
  std::vector<Example> examples;
  for (const ListopsExample& row : rows) {
    examples.push_back({.tokens = {row.tokens.begin(), row.tokens.end()}, .label = row.label});
  }
  return examples;
}

ModelConfig model_config(const std::string& mixer, const std::string& phi) {
  ModelConfig config;
  config.vocab = kListopsVocabulary;
  config.classes = kListopsClasses;
  config.length = listops_short().max_tokens;
  config.width = 64;
  config.heads = 4;
  config.blocks = 2;
  config.hidden = 256;
  config.head_units = 64;
  config.mixer = mixer;
  config.phi = phi;
  config.dropout = 0.0;
  return config;
}

// The three of the tour, or the rows and settings that the user asks for.
std::vector<Entry> entries_of(const Options& options, const ConfigFlags& flags) {
  std::vector<Entry> entries;
  for (const std::string& row : options.rows) {
    entries.push_back({row, model_config("kernel", "softplus")});
    apply_row(row, entries.back().config);
  }
  if (entries.empty() && flags.given()) {
    entries.push_back({"model", model_config("kernel", "softplus")});
  } else if (entries.empty()) {
    entries = {{"softmax", model_config("softmax", "softplus")},
               {"elu1-kernel", model_config("kernel", "elu1")},
               {"softplus-kernel", model_config("kernel", "softplus")}};
  }
  std::vector<ModelConfig> models;
  for (Entry& entry : entries) {
    entry.config = flags.apply(entry.config);
    models.push_back(entry.config);
  }
  flags.check_used(models);
  return entries;
}

// The rows of each epoch in an order of their own.
class Batches {
 public:
  Batches(const std::vector<Example>& examples, uint64_t seed)
      : examples_(examples), seed_(seed), order_(examples.size()) {}
  std::vector<const Example*> next() {
    std::vector<const Example*> batch;
    while (static_cast<int64_t>(batch.size()) < kBatch) {
      if (at_ == 0) shuffle();
      batch.push_back(&examples_[order_[at_]]);
      at_ = (at_ + 1) % order_.size();
    }
    return batch;
  }

 private:
  void shuffle() {
    std::iota(order_.begin(), order_.end(), size_t{0});
    Random random(seed_, epoch_++);
    for (size_t i = order_.size(); i > 1; --i)
      std::swap(order_[i - 1], order_[random.below(static_cast<uint32_t>(i))]);
  }
  const std::vector<Example>& examples_;
  uint64_t seed_, epoch_ = 0;
  std::vector<size_t> order_;
  size_t at_ = 0;
};

constexpr std::string_view kAuthor = " on short ListOps\n\nMade by `linnet quickstart`: ";

std::string card(const Entry& entry, const Json& result) {
  return fmt::format(
      "# {}{}nested MIN, MAX, MED and SM over digits, 11 to 99 tokens.\n"
      "Test accuracy {:.1f}% on {} trees, {} parameters.\n",
      entry.name, kAuthor, result["accuracy"].get<double>() * 100, kTestRows,
      result["parameters"].get<int64_t>());
}

std::filesystem::path folder_of(const Options& options, const Entry& entry) {
  return std::filesystem::path(options.folder) / entry.name;
}

// An Error where a model could not be written, or would replace what is not linnet's: a card of
// others, and any of its files without a card in a folder that linnet did not make.
void make_place(const std::filesystem::path& folder) {
  constexpr std::string_view kCard[] = {"README.md"},
                             kFiles[] = {"model.safetensors", "config.json", "metrics.jsonl"};
  make_own_folder(folder);
  const std::filesystem::path card = first_of(folder, kCard), file = first_of(folder, kFiles);
  if (!card.empty() && (!std::filesystem::is_regular_file(card) ||
                        read_file(card, kLargestConfigFile).find(kAuthor) == std::string::npos))
    refuse_foreign(card);
  if (card.empty() && !file.empty() && !is_own_folder(folder)) refuse_foreign(file);
  const NewFile probe(folder / kCard[0]);
}

Json train_one(Context& context, const Options& options, const Entry& entry,
               const std::vector<Example>& train, const std::vector<Example>& test) {
  reset_peak_memory();
  const Model model(entry.config);
  TrainConfig config;
  config.optimizer = {.lr = 0.05, .weight_decay = 0.01, .warmup = 200};
  config.seed = options.seed;
  Trainer trainer(context, model, Parameters::initial(model, options.seed), config);
  Batches batches(train, options.seed);
  const std::filesystem::path folder = folder_of(options, entry);
  std::string metrics;
  int64_t tokens = 0;
  double smooth = 0;
  const auto start = Clock::now();
  {
    Progress progress(fmt::format("{:<16}", entry.name));
    for (int64_t step = 1; step <= options.steps; ++step) {
      const StepResult result = trainer.accumulate(batches.next());
      const double norm = trainer.update();
      tokens += result.tokens;
      smooth = step == 1 ? result.loss : 0.98 * smooth + 0.02 * result.loss;
      metrics += Json{{"step", step}, {"loss", result.loss}, {"gradient_norm", norm}}.dump() + "\n";
      progress.show(static_cast<double>(step) / static_cast<double>(options.steps),
                    fmt::format("loss {:.3f}, {:.0f} tokens/s", smooth,
                                static_cast<double>(tokens) / seconds_since(start)));
    }
  }
  const double seconds = seconds_since(start);
  const StepResult score = evaluate(context, model, trainer.values(), test);
  Json result = {{"model", entry.name},
                 {"accuracy", score.accuracy},
                 {"test_loss", score.loss},
                 {"train_loss", smooth},
                 {"parameters", model.layout().parameters()},
                 {"tokens_per_s", static_cast<double>(tokens) / seconds},
                 {"memory_mb", static_cast<double>(peak_memory()) * 1e-6},
                 {"seconds", seconds},
                 {"folder", folder.string()}};
  save_model(folder, model, trainer.values(), card(entry, result));
  write_file(folder / "metrics.jsonl", metrics);
  return result;
}

void print_results(const std::vector<Json>& results, double majority) {
  std::vector<std::vector<std::string>> table = {
      {"model", "test accuracy", "test loss", "parameters", "tokens/s", "memory"}};
  for (const Json& r : results) {
    table.push_back({r["model"].get<std::string>(),
                     fmt::format("{:.1f}%", r["accuracy"].get<double>() * 100),
                     fmt::format("{:.3f}", r["test_loss"].get<double>()),
                     with_commas(r["parameters"].get<int64_t>()),
                     with_commas(static_cast<int64_t>(r["tokens_per_s"].get<double>())),
                     fmt::format("{:.0f} MB", r["memory_mb"].get<double>())});
  }
  write_out("\n" + format_table(table));
  print_out("\nThe most frequent class alone is right on {:.1f}%.\n", majority * 100);
  print_out("\nNext:\n  ./linnet info {}      what is in the model that was trained\n",
            results.back()["folder"].get<std::string>());
  print_out(
      "  ./linnet info --task listops --row linear-kernel    the same model at the size of the "
      "paper\n");
  print_out("  ./linnet bench engine                  how close to this machine's limit it runs\n");
}

double majority_share(const std::vector<Example>& examples) {
  std::vector<int64_t> counts(kListopsClasses);
  for (const Example& e : examples) ++counts[static_cast<size_t>(e.label)];
  return static_cast<double>(*std::max_element(counts.begin(), counts.end())) /
         static_cast<double>(examples.size());
}

// All models before the first is trained.
void check_memory(const Context& context, const std::vector<Entry>& entries) {
  for (const Entry& entry : entries) {
    const Model model(entry.config);
    context.memory().check("to train", training_need(model, TrainConfig(), context.threads(),
                                                     listops_short().max_tokens));
  }
}

void run(const Options& options, const ConfigFlags& flags) {
  if (options.steps < 1)
    throw Error(fmt::format("[--steps] must be at least 1, not {}", options.steps));
  const std::vector<Entry> entries = entries_of(options, flags);
  for (const Entry& entry : entries) make_place(folder_of(options, entry));
  Context context(options.threads, options.seed, MemoryBudget(options.memory));
  check_memory(context, entries);
  const ListopsSplits data =
      make_listops_splits(listops_short(), options.seed, kTrainRows, 0, kTestRows);
  const std::vector<Example> train = to_examples(data.train), test = to_examples(data.test);
  if (!options.json) {
    print_out("ListOps, short form: {} trees to train on, {} to test; {} threads, {}.\n",
              with_commas(kTrainRows), with_commas(kTestRows), context.threads(),
              Context::target());
    print_out("  {}  =  {}\n\n", "[MAX 2 9 [MIN 4 7 ] 0 ]", "9");
    flush_out();
  }
  std::vector<Json> results;
  for (const Entry& entry : entries) {
    results.push_back(train_one(context, options, entry, train, test));
    if (options.json) write_json(results.back());
    flush_out();
  }
  if (!options.json) print_results(results, majority_share(test));
}

}  // namespace

void add_quickstart(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "quickstart", "Makes data, trains three models in about two minutes, compares them");
  verb->footer(
      "Examples:\n  linnet quickstart --dir quickstart --seed 1\n  linnet quickstart --row "
      "linear-kernel --row 2xoglu\n  linnet quickstart --mixer kernel --phi "
      "\"linear>gelu>softplus\"");
  verb->add_option("--dir", options->folder, "Where the models go")->capture_default_str();
  verb->add_option("--seed", options->seed, "Seed of data, initial values and order")
      ->capture_default_str();
  verb->add_option("--threads", options->threads,
                   "Threads (0: all cores); the result does not depend on it")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  verb->add_option("--steps", options->steps, "Training steps of each model")
      ->capture_default_str();
  verb->add_option("--row", options->rows,
                   "Instead of the three, rows of the arena: " + profile_rows());
  add_memory_flag(*verb, options->memory);
  verb->add_flag("--json", options->json, "One JSON object a model");
  verb->callback([options, flags = ConfigFlags(*verb, {"task", "vocab", "classes", "length"})] {
    run(*options, flags);
  });
}

}  // namespace linnet
