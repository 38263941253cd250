// train_choices.cpp -- what linnet train decides by itself, and says.
#include "cli/train_choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/streams.h"
#include "cli/terminal.h"
#include "core/file.h"
#include "models/model_folder.h"
#include "models/profiles.h"
#include "models/wide_table.h"
#include "train/naive_bayes.h"
#include "train/run_profiles.h"

namespace linnet {
namespace {

constexpr int kMostRegionClasses = 64;  // a text's step costs units times classes
// Of texts, whose n-grams are in memory.
constexpr int64_t kMostWideBytes = int64_t{1} << 28, kMostWideBytesOfBytes = int64_t{1} << 25;
constexpr int64_t kMostWideTokens = int64_t{1} << 28;  // of pairs: records times what is read
constexpr int64_t kPairWideLength = 4096;
constexpr const char* kProfileRow = "linear-kernel";  // a profile's if none is named

// Tokens that mean something by themselves, unlike a byte.
bool has_words(const PreparedTask& prepared) {
  const std::string_view kind = prepared.tokenizer->kind();
  return prepared.task->cut && (kind == "words" || kind == "bpe" || kind == "unigram");
}
bool is_text(const PreparedTask& prepared) { return prepared.task->name == "text"; }

// 2 to this power are about as many as asked for, at least 4096.
int bits_for(int64_t count, int most) {
  int bits = 12;
  while (bits < most && int64_t{1} << bits < count) ++bits;
  return bits;
}

int classes_of(const PreparedTask& prepared) {
  return static_cast<int>(prepared.settings.labels.size());
}

int64_t wide_bits_for(const PreparedTask& prepared) {
  return std::min<int64_t>(bits_for(prepared.bytes / 8, 22), ngram_rule(classes_of(prepared)).bits);
}

bool wide_fits(const PreparedTask& prepared, int64_t bits) {
  return !prepared.many_labels && int64_t{classes_of(prepared)} << bits <= int64_t{1}
                                                                               << kMostWideBits;
}

// What a task starts from; the user's settings come on top.
ModelConfig starting_model(const PreparedTask& prepared) {
  const Task& task = *prepared.task;
  ModelConfig config;
  config.width = task.name == "lm" ? 128 : 64;
  config.heads = 4;
  config.blocks = 2;
  config.hidden = 4 * config.width;
  config.head_units = config.width;
  config.mixer = "kernel";
  config.phi = "softplus";
  config.conv = 4;
  config.pool = task.model == "match" ? "mean-first" : "mean";
  config.pair = "compare";
  config.positions = task.cut ? "none" : "learned";
  config.dropout = 0.1;
  if (task.name == "listops") {
    // Sums that can count brackets and begin anew at one, seen from in front of the root; small, so
    // that many trees are seen.
    config.blocks = 4;
    config.width = 32;
    config.hidden = config.head_units = 64;
    config.mixer = "gated-scan";
    config.conv = 0;
    config.pool = "cls";
    config.positions = "none";
    config.dropout = 0;
  }
  if (task.model == "match" && has_words(prepared)) {
    config.blocks = 1;
    config.mixer = "poly-relu2";
    config.bag = true;
    config.pair = "distance";
    config.init_embed = 0.05;
    config.wide_bits = wide_bits_for(prepared);
    if (wide_fits(prepared, config.wide_bits)) config.wide = 3;
    // A text has at most as many tokens as bytes.
    config.wide_length = std::min(kPairWideLength, prepared.longest);
  }
  if (is_text(prepared)) {
    // What words and their neighbours say, by weights of their own and by embeddings, and one block
    // for what they do not. Of bytes, six in a row are a word or most of it.
    const bool words = has_words(prepared);
    config.blocks = 1;
    config.mixer = "poly-relu2";
    config.pool = "mean-first";
    config.conv = 0;
    config.init_embed = 0.1;
    config.ngrams = words ? 2 : 6;
    config.ngram_buckets = int64_t{1} << (words ? bits_for(prepared.bytes / 128, 18)
                                                : bits_for(prepared.bytes / 32, 20));
    config.wide_bits = wide_bits_for(prepared);
    // Windows that overlap have a text's n-grams several times.
    const bool small =
        words ? prepared.bytes <= kMostWideBytes
              : prepared.bytes <= kMostWideBytesOfBytes && prepared.settings.stride == 0;
    if (wide_fits(prepared, config.wide_bits) && small) config.wide = words ? 3 : 6;
    // Windows have a text's tokens several times.
    if (config.wide > 0 && words && classes_of(prepared) <= kMostRegionClasses &&
        prepared.settings.stride == 0)
      config.regions = 3;
    // Words stand in the order of their frequency, pieces do not.
    if (prepared.tokenizer->kind() != "words")
      config.region_rows = std::max<int64_t>(config.region_rows, prepared.tokenizer->vocabulary());
  }
  return config;
}

// The encoder of a model to begin with, and the rest of `own`.
ModelConfig with_encoder(ModelConfig encoder, const ModelConfig& own) {
  encoder.head_units = own.head_units;
  encoder.pool = own.pool;
  encoder.pair = own.pair;
  encoder.bag = own.bag;
  encoder.dropout = own.dropout;
  encoder.loss = own.loss;
  encoder.wide = own.wide;
  encoder.wide_bits = own.wide_bits;
  encoder.wide_length = own.wide_length;
  encoder.regions = own.regions;
  encoder.region_units = own.region_units;
  encoder.region_rows = own.region_rows;
  return encoder;
}

// Texts: some passes, at most a quarter of an hour; else a minute for two megabytes, at most the
// same.
RunSettings starting_settings(const PreparedTask& prepared) {
  RunSettings settings;
  settings.minutes = std::clamp(static_cast<double>(prepared.bytes) / 2e6, 1.0, 15.0);
  // With words a model soon knows its texts by heart: few passes.
  const bool pairs = prepared.task->model == "match";
  const auto pass_to = [&](double records, double least) {
    settings.epochs = std::max(records / static_cast<double>(prepared.records), least);
    settings.minutes = 15;
  };
  if (is_text(prepared) && has_words(prepared)) {
    settings.drop_tokens = 0.5;
    pass_to(1e5, 4);
  } else if (is_text(prepared)) {
    pass_to(3e4, 1);
  } else if (pairs && has_words(prepared)) {
    pass_to(8e4, 2);
  } else if (prepared.task->name == "listops") {
    settings.lr = 0.006;
  } else if (pairs) {
    // What two texts share is in their rare tokens, which must move before the blocks do.
    settings.lr = 0.001;
    settings.embed_rate = 50;
    settings.warmup = 30;
  }
  return settings;
}

std::string columns_text(const PreparedTask& prepared) {
  std::string text;
  for (size_t i = 0; i < prepared.columns.size(); ++i) {
    const Column& column = prepared.columns[i];
    if (column.role.empty()) continue;
    text += fmt::format("{}{} from column {}{}", text.empty() ? ": " : ", ", column.role, i + 1,
                        column.name.empty() ? "" : " (" + printable(column.name, 40) + ")");
  }
  return text;
}

std::string beside_text(const TaskSettings& settings, const ModelConfig& config) {
  const int64_t read = read_length(settings, config);
  std::string text;
  if (config.wide > 0)
    text += fmt::format(
        "weights of {}n-grams to {}{}", config.task == "match" ? "shared " : "", config.wide,
        read > config.length ? fmt::format(" in {} tokens", with_commas(read)) : "");
  if (config.regions > 0)
    text += fmt::format("{}{} units on {} tokens in a row", text.empty() ? "" : ", ",
                        with_commas(config.region_units), config.regions);
  return text.empty() ? text : "; beside it " + text;
}

// "100 steps or 5 minutes".
std::string end_of(const RunSettings& settings) {
  std::string end;
  const auto add = [&](double value, const char* unit) {
    if (value > 0)
      end +=
          fmt::format("{}{:g} {}", end.empty() ? "" : " or ", std::round(100 * value) / 100, unit);
  };
  add(static_cast<double>(settings.steps), "steps");
  add(settings.epochs, "epochs");
  add(settings.minutes, "minutes");
  return end;
}

}  // namespace

void add_choice_flags(CLI::App& verb, DataChoice& choice) {
  verb.add_option("--data", choice.data, "File or folder: `linnet data formats`")->required();
  verb.add_option("--validation", choice.validation, "Data to choose the best model by");
  verb.add_option("--validation-share", choice.share, "Else this share of the data")
      ->excludes("--validation")
      ->capture_default_str();
  verb.add_option("--test", choice.test, "Data that the best model is tried on at the end");
  verb.add_option("--tokenizer", choice.tokenizer,
                  "A kind (`linnet list tokenizers`), or the file of one");
  verb.add_option("--vocab", choice.vocabulary,
                  "Ids of a tokenizer that is learnt; 0: 8192, of words 60,000")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 24));
  verb.add_option("--truncate", choice.truncate, "Of longer texts: head, tail or head+tail")
      ->capture_default_str();
  verb.add_option("--stride", choice.stride,
                  "Longer texts in windows so many tokens apart; 0: they are cut")
      ->capture_default_str();
}

void check_recipe(const Recipe& recipe, const std::string& task) {
  ModelConfig config;
  if (!recipe.row.empty()) apply_row(recipe.row, config);
  if (!recipe.profile.empty()) profile_settings(recipe.profile, task.empty() ? "text" : task);
}

RunSettings settings_of(const PreparedTask& prepared, const Recipe& recipe, const RunFlags& flags) {
  RunSettings settings = recipe.profile.empty()
                             ? starting_settings(prepared)
                             : profile_settings(recipe.profile, prepared.task->name);
  if (flags.given("steps") || flags.given("epochs") || flags.given("minutes")) {
    settings.minutes = settings.epochs = 0;
    settings.steps = 0;
  }
  return flags.apply(settings);
}

ModelConfig model_of(const PreparedTask& prepared, const Recipe& recipe, const ConfigFlags& flags) {
  ModelConfig config = starting_model(prepared);
  int64_t vocab = 0;
  if (!recipe.init.empty()) {
    config = with_encoder(load_config(recipe.init), config);
    vocab = config.vocab;
  }
  if (!recipe.profile.empty()) {
    config = profile_config(recipe.profile, prepared.task->name,
                            recipe.row.empty() ? kProfileRow : recipe.row);
  } else if (!recipe.row.empty()) {
    apply_row(recipe.row, config);
  }
  const bool sized = !recipe.profile.empty() || !recipe.init.empty();
  fit_model(prepared, sized || flags.given("length"), config);
  config.vocab = std::max(config.vocab, vocab);  // with a mask, where that model has one
  config = flags.apply(config);
  // Who wants no wide part wants the deep one alone, unless they say more.
  if (config.wide == 0 && !flags.given("regions")) config.regions = 0;
  if (config.task == "match") {
    const auto read = [&] { return read_length(prepared.settings, config); };
    const auto too_many = [&] { return prepared.records * read() > kMostWideTokens; };
    // Who gives a length means it; and where nothing is read on, runs are as they were before.
    if (!flags.given("wide_length") &&
        (flags.given("length") || read() == config.length || too_many()))
      config.wide_length = 0;
    if (!flags.given("wide") && config.wide_length == 0 && too_many()) config.wide = 0;
    // As runs have it that were begun before pairs had a wide part.
    if (config.wide == 0 && !flags.given("wide_bits")) config.wide_bits = ModelConfig().wide_bits;
  }
  return config;
}

void say_choices(const PreparedTask& prepared, const Recipe& recipe, const Model& model,
                 const RunSettings& settings, const Pretraining* first) {
  const ModelConfig& config = model.config();
  print_out("task       {}: {}\n", prepared.task->name, prepared.task->summary);
  print_out("data       {}, {} records, {:.1f} MB{}\n", prepared.format->name,
            with_commas(prepared.records), static_cast<double>(prepared.bytes) * 1e-6,
            columns_text(prepared));
  const DataPart& validation = prepared.parts.validation;
  if (validation.side == DataPart::Side::validation) {
    print_out("validation {:.0f}% of the data, kept apart by a hash of each text\n",
              validation.share * 100);
  } else {
    print_out("validation {}\n", place_of(validation.path));
  }
  if (!prepared.counts.empty()) {
    std::string classes;
    for (size_t i = 0; i < std::min<size_t>(prepared.counts.size(), 8); ++i)
      classes += fmt::format("{}{} {}", i ? ", " : "", printable(prepared.counts[i].first, 30),
                             with_commas(prepared.counts[i].second));
    print_out("classes    {}: {}{}\n", prepared.counts.size(), classes,
              prepared.counts.size() > 8 ? ", ..." : "");
    for (const auto& [name, count] : prepared.counts) {
      if (count > 1) continue;
      print_out("           class {} has {} to train on: it can hardly be learnt\n",
                printable(name, 30), count == 1 ? "a single example" : "no example");
    }
  }
  if (!recipe.profile.empty())
    print_out("profile    {}, row {}; what you gave is on top\n", recipe.profile,
              recipe.row.empty() ? kProfileRow : recipe.row);
  print_out("tokens     {}, {} ids, at most {} a sequence\n", prepared.tokenizer->kind(),
            with_commas(config.vocab), with_commas(config.length));
  print_out("model      {} parameters: {}{}, {} {} of width {}{}{}\n",
            with_commas(model.layout().parameters()), mixers_text(config),
            config.conv > 0 ? fmt::format(" after a convolution of {}", config.conv) : "",
            config.blocks, config.blocks == 1 ? "block" : "blocks", config.width,
            config.ngrams > 0 ? fmt::format(", n-grams to {}", config.ngrams) : "",
            beside_text(prepared.settings, config));
  if (first) {
    print_out("pretrained {} of it on {} records without labels: {}\n", end_of(first->settings),
              with_commas(first->task.records), first->task.task->summary);
  }
  print_out("training   {}, batches of {}, seed {}\n\n", end_of(settings),
            settings.batch_tokens > 0 ? fmt::format("{} tokens", with_commas(settings.batch_tokens))
                                      : fmt::format("{} sequences", settings.batch),
            settings.seed);
  flush_out();
}

}  // namespace linnet
