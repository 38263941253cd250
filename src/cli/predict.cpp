// predict.cpp -- linnet predict: the label of every text, in order.
#include <fmt/format.h>

#include <algorithm>

#include "cli/data_flags.h"
#include "cli/input_lines.h"
#include "cli/memory_flag.h"
#include "cli/streams.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "core/error.h"
#include "data/task_settings.h"
#include "models/model_folder.h"
#include "train/diagnosis.h"
#include "train/task_score.h"

namespace linnet {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string folder, data = "-", memory;
  int64_t top = 1;
  int threads = 0;
  bool json = false, ranked = false;  // ranked: --top was given
};

// Texts, a line each, empty ones too; or the records of a file that has a format.
class Texts {
 public:
  // `given`: a flag that says how a file is to be read, if any was.
  Texts(const std::string& path, const ReadOptions& read, const std::string& given) {
    if (path == "-" && read.format.empty()) {
      if (!given.empty())
        throw Error(fmt::format(
            "[{}] standard input is read as a text a line: for another layout give --format",
            given));
      lines_.emplace(read.record_limit);
      return;
    }
    data_.emplace(open_data(path, read));
    if (data_->format->name == "text")
      throw Error(
          fmt::format("[{}] to predict a line each, give it as standard input: linnet "
                      "predict DIR < {}",
                      path, path));
  }
  bool next(Record& record) {
    if (data_) return data_->reader->next(record);
    record = Record();
    if (!lines_->next(record.text)) return false;
    if (record.text.ends_with('\r')) record.text.remove_suffix(1);
    record.file = "standard input";
    record.line = lines_->number();
    return true;
  }

 private:
  std::optional<OpenData> data_;
  std::optional<InputLines> lines_;
};

class Printer {
 public:
  Printer(const std::vector<std::string>& labels, bool many, const Options& options)
      : labels_(labels), many_(many), options_(options) {
    for (const std::string& label : labels) shown_.push_back(printable(label, label.npos));
  }

  void print(const Answer& answer) const {
    std::vector<size_t> order(labels_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, [&](size_t a, size_t b) {
      return answer.probabilities[a] > answer.probabilities[b];
    });
    // Of many labels those that hold; else the most probable ones.
    size_t shown = 0;
    while (shown < order.size() && (many_ ? answer.probabilities[order[shown]] >= 0.5f
                                          : shown < static_cast<size_t>(options_.top)))
      ++shown;
    if (options_.json) {
      Json json;
      if (!many_) json["label"] = labels_[order[0]];
      if (!many_) json["probability"] = answer.probabilities[order[0]];
      if (many_) json["labels"] = Json::array();
      for (size_t i = 0; many_ && i < shown; ++i) json["labels"].push_back(labels_[order[i]]);
      for (size_t i = 0; i < labels_.size(); ++i)
        json["probabilities"][labels_[i]] = answer.probabilities[i];
      write_json(json);
      return;
    }
    std::string line;
    for (size_t i = 0; i < shown; ++i)
      line += fmt::format("{}{}\t{:.4f}", i ? "\t" : "", shown_[order[i]],
                          answer.probabilities[order[i]]);
    write_out(line + "\n");
  }

  // A tag for every word, in order.
  void print(const Example& example, std::span<const int32_t> classes) const {
    const std::vector<std::string>& labels = options_.json ? labels_ : shown_;
    std::string line;
    for (size_t t = 0; t < example.tokens.size(); ++t) {
      if (example.targets[t] < 0) continue;
      line += (line.empty() ? "" : " ") + labels[static_cast<size_t>(classes[t])];
    }
    if (options_.json)
      write_json({{"labels", line}});
    else
      write_out(line + "\n");
  }

 private:
  const std::vector<std::string>& labels_;
  std::vector<std::string> shown_;  // the same, none of which can end a line or a column
  bool many_;
  const Options& options_;
};

void run(const Options& options, const DataFlags& flags) {
  Context context(options.threads, 1, MemoryBudget(options.memory));
  const LoadedModel loaded = load_model(options.folder, context.memory());
  const LoadedTask task = load_task(options.folder, loaded.config);
  if (task.settings.labels.empty())
    throw Error(
        fmt::format("[{}] is a language model: it has no labels to predict", options.folder));
  const Model model(loaded.config);
  if (options.ranked && (model.of_tokens() || model.many_labels()))
    throw Error("[--top] is of models that give a text one label");
  Evaluation evaluation(context, model, loaded.values.data());
  ExampleMaker maker(task.settings, *task.tokenizer, loaded.config, false);
  Texts texts(options.data, flags.options(), flags.given());
  const Printer printer(task.settings.labels, loaded.config.loss == "sigmoid", options);
  const auto check = [&] {
    if (!evaluation.finite()) refuse_answer(options.folder, model, loaded.values.data());
  };
  constexpr size_t kExamples = 256;
  std::vector<Example> examples;
  int64_t number = 0;
  for (bool more = true; more;) {
    examples.clear();
    for (Record record; examples.size() < kExamples && (more = texts.next(record));)
      maker.add(record, number++, examples);
    if (model.of_tokens()) {
      const Predictions predictions = evaluation.add(examples);
      check();
      size_t at = 0;
      for (const Example& e : examples) {
        printer.print(e, std::span(predictions.classes).subspan(at, e.tokens.size()));
        at += e.tokens.size();
      }
    } else {
      const std::vector<Answer> answers = answers_of(evaluation, loaded.config, examples);
      check();
      for (const Answer& answer : answers) printer.print(answer);
    }
    flush_out();
  }
}

}  // namespace

void add_predict(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("predict", "The label of every text, with its probability, in order");
  verb->footer(
      "Examples:\n  linnet predict model < texts.txt\n  linnet predict model new.csv --json");
  verb->add_option("folder", options->folder, "Folder of the model")->required();
  verb->add_option("data", options->data,
                   "A file that linnet reads; - for standard input, a text a line")
      ->capture_default_str();
  verb->add_flag("--json", options->json, "One JSON object a text, with all probabilities");
  verb->add_option("--top", options->top, "So many labels of each, the most probable first")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20))
      ->excludes("--json")
      ->capture_default_str();
  verb->add_option("--threads", options->threads, "0: all cores")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  add_memory_flag(*verb, options->memory);
  verb->callback([options, verb, flags = DataFlags(*verb)] {
    options->ranked = verb->count("--top") > 0;
    run(*options, flags);
  });
}

}  // namespace linnet
