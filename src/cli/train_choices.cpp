// train_choices.cpp -- what linnet train decides by itself, and says.
#include "cli/train_choices.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/terminal.h"
#include "core/error.h"
#include "core/file.h"
#include "core/settings.h"
#include "data/task_settings.h"
#include "models/model_folder.h"
#include "models/profiles.h"

namespace linnet {
namespace {

using Json = nlohmann::ordered_json;

// What a task starts from; the user's settings come on top.
ModelConfig starting_model(const Task& task) {
  ModelConfig config;
  config.width = task.name == "lm" ? 128 : 64;
  config.heads = 4;
  config.blocks = 2;
  config.hidden = 4 * config.width;
  config.head_units = config.width;
  config.mixer = "kernel";
  config.phi = "softplus";
  config.conv = 4;
  config.pool = "mean";
  config.pair = "compare";
  config.positions = task.cut ? "none" : "learned";
  config.dropout = 0.1;
  return config;
}

// The encoder of a model to begin with, and the rest of `own`.
ModelConfig with_encoder(ModelConfig encoder, const ModelConfig& own) {
  encoder.head_units = own.head_units;
  encoder.pool = own.pool;
  encoder.pair = own.pair;
  encoder.dropout = own.dropout;
  encoder.loss = own.loss;
  return encoder;
}

// A minute for two megabytes, at most a quarter of an hour.
RunSettings starting_settings(const PreparedTask& prepared) {
  RunSettings settings;
  settings.minutes = std::clamp(static_cast<double>(prepared.bytes) / 2e6, 1.0, 15.0);
  return settings;
}

// All that decides the result; a folder goes on only with the same.
Json identity(const PreparedTask& prepared, const ModelConfig& config,
              const RunSettings& settings) {
  return {{"model", config_to_json(config)},
          {"data", task_settings_to_json(prepared.settings)},
          {"train", run_settings_to_json(settings)},
          {"records", prepared.records},
          {"bytes", prepared.bytes}};
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

// "100 steps or 5 minutes".
std::string end_of(const RunSettings& settings) {
  std::string end;
  const auto add = [&](double value, const char* unit) {
    if (value > 0) end += fmt::format("{}{:g} {}", end.empty() ? "" : " or ", value, unit);
  };
  add(static_cast<double>(settings.steps), "steps");
  add(settings.epochs, "epochs");
  add(settings.minutes, "minutes");
  return end;
}

}  // namespace

RunSettings settings_of(const PreparedTask& prepared, const RunFlags& flags) {
  RunSettings settings = starting_settings(prepared);
  if (flags.given("steps") || flags.given("epochs") || flags.given("minutes")) settings.minutes = 0;
  return flags.apply(settings);
}

ModelConfig model_of(const PreparedTask& prepared, const std::string& row, const std::string& init,
                     const ConfigFlags& flags) {
  ModelConfig config = starting_model(*prepared.task);
  if (!init.empty()) config = with_encoder(load_config(init), config);
  if (!row.empty()) apply_row(row, config);
  const int64_t vocab = init.empty() ? 0 : config.vocab;
  fit_model(prepared, flags.given("length") || !init.empty(), config);
  config.vocab = std::max(config.vocab, vocab);  // with a mask, where that model has one
  return flags.apply(config);
}

void check_identity(const std::filesystem::path& folder, const PreparedTask& prepared,
                    const ModelConfig& config, const RunSettings& settings) {
  const Json now = identity(prepared, config, settings);
  const std::filesystem::path path = folder / "run.json";
  if (!std::filesystem::exists(path)) {
    write_file(path, now.dump(2) + "\n");
    return;
  }
  const nlohmann::json before = parse_settings(read_file(path, kLargestConfigFile), place_of(path));
  for (const auto& [group, values] : now.items()) {
    if (!values.is_object()) {
      if (before.value(group, nlohmann::json()) != nlohmann::json(values))
        throw Error(fmt::format(
            "[{}] the data has changed since the run began: {} {}, now {}; "
            "take another --out",
            place_of(path), before.value(group, nlohmann::json()).dump(), group, values.dump()));
      continue;
    }
    for (const auto& [name, value] : values.items()) {
      const nlohmann::json old =
          before.contains(group) ? before[group].value(name, nlohmann::json()) : nlohmann::json();
      if (old == nlohmann::json(value)) continue;
      throw Error(fmt::format(
          "[{}] the run in this folder has {}.{} = {}, not {}: take another "
          "--out, or remove the folder",
          place_of(path), group, name, printable(old.dump(), 60), printable(value.dump(), 60)));
    }
  }
}

void say_choices(const PreparedTask& prepared, const Model& model, const RunSettings& settings,
                 const Pretraining* first) {
  const ModelConfig& config = model.config();
  fmt::print("task       {}: {}\n", prepared.task->name, prepared.task->summary);
  fmt::print("data       {}, {} records, {:.1f} MB{}\n", prepared.format->name,
             with_commas(prepared.records), static_cast<double>(prepared.bytes) * 1e-6,
             columns_text(prepared));
  const DataPart& validation = prepared.parts.validation;
  if (validation.side == DataPart::Side::validation) {
    fmt::print("validation {:.0f}% of the data, kept apart by a hash of each text\n",
               validation.share * 100);
  } else {
    fmt::print("validation {}\n", place_of(validation.path));
  }
  if (!prepared.counts.empty()) {
    std::string classes;
    for (size_t i = 0; i < std::min<size_t>(prepared.counts.size(), 8); ++i)
      classes += fmt::format("{}{} {}", i ? ", " : "", printable(prepared.counts[i].first, 30),
                             with_commas(prepared.counts[i].second));
    fmt::print("classes    {}: {}{}\n", prepared.counts.size(), classes,
               prepared.counts.size() > 8 ? ", ..." : "");
    for (const auto& [name, count] : prepared.counts) {
      if (count > 1) continue;
      fmt::print("           class {} has {} to train on: it can hardly be learnt\n",
                 printable(name, 30), count == 1 ? "a single example" : "no example");
    }
  }
  fmt::print("tokens     {}, {} ids, at most {} a sequence\n", prepared.tokenizer->kind(),
             with_commas(config.vocab), with_commas(config.length));
  fmt::print("model      {} parameters: {}{}, {} blocks of width {}\n",
             with_commas(model.layout().parameters()), config.mixer,
             config.conv > 0 ? fmt::format(" after a convolution of {}", config.conv) : "",
             config.blocks, config.width);
  if (first) {
    fmt::print("pretrained {} of it on {} records without labels: {}\n", end_of(first->settings),
               with_commas(first->task.records), first->task.task->summary);
  }
  fmt::print("training   {}, batches of {}, seed {}\n\n", end_of(settings),
             settings.batch_tokens > 0
                 ? fmt::format("{} tokens", with_commas(settings.batch_tokens))
                 : fmt::format("{} sequences", settings.batch),
             settings.seed);
  std::fflush(stdout);
}

}  // namespace linnet
