// pretrain.cpp -- the run without labels, and a file that says that it has ended.
#include "cli/pretrain.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/file.h"
#include "core/settings.h"
#include "models/model_folder.h"

namespace linnet {

using Json = nlohmann::ordered_json;

void check_start(const std::filesystem::path& folder, const PreparedTask& prepared,
                 const PretrainSettings& settings, const std::string& init) {
  const auto start_of = [](const PretrainSettings& from, const std::string& model, int64_t records,
                           int64_t bytes) {
    Json json = pretrain_settings_to_json(from);
    json["init"] = model;
    json["unlabelled_records"] = records;
    json["unlabelled_bytes"] = bytes;
    return json;
  };
  const Json now = start_of(settings, init, prepared.unlabelled_records, prepared.unlabelled_bytes);
  const std::filesystem::path path = folder / "start.json";
  nlohmann::json before = start_of({}, "", 0, 0);
  if (std::filesystem::exists(path)) {
    before = parse_settings(read_file(path, kLargestConfigFile), place_of(path));
  } else if (!std::filesystem::exists(folder / "run.json")) {
    if (now != start_of({}, "", 0, 0)) write_file(path, now.dump(2) + "\n");
    return;
  }
  for (const auto& [name, value] : now.items()) {
    const nlohmann::json old = before.value(name, nlohmann::json());
    if (old == nlohmann::json(value)) continue;
    throw Error(fmt::format(
        "[{}] the run in this folder began with {} = {}, not {}: take another --out, or remove "
        "the folder",
        place_of(path), name, printable(old.dump(), 60), printable(value.dump(), 60)));
  }
}

namespace {

// Every record once, with its label: a fault of the data should not wait until pretraining is over.
void check_examples(const PreparedTask& prepared, const ModelConfig& config, Progress& bar) {
  for (const DataPart* part : {&prepared.parts.train, &prepared.parts.validation}) {
    ExampleStream stream(*part, ExampleMaker(prepared.settings, *prepared.tokenizer, config, true));
    std::vector<Example> examples;
    while (stream.next(examples)) {
      examples.clear();
      bar.show(0, "looking at the labels");
    }
  }
}

}  // namespace

Json pretrain(Context& context, const std::filesystem::path& folder, const Pretraining& pretraining,
              const PreparedTask& next, const ModelConfig& next_model,
              const std::filesystem::path& start, bool quiet, Progress& bar, const BarPart& part) {
  const std::filesystem::path own = folder / kPretrainFolder, ended = own / "result.json";
  if (std::filesystem::exists(ended)) {
    bar.show(part.to, "pretrained");
    return parse_settings(read_file(ended, kLargestConfigFile), place_of(ended));
  }
  std::error_code failure;
  std::filesystem::create_directories(own, failure);
  if (failure)
    throw Error(fmt::format("[{}] cannot make the folder: {}", place_of(own), failure.message()));
  check_examples(next, next_model, bar);
  const Task& task = *pretraining.task.task;
  Run run(context, own, pretraining.model, pretraining.task, pretraining.settings, start);
  train_to_end(run, quiet, bar, part);
  const Json result = {{"task", task.name},
                       {"steps", run.steps()},
                       {"tokens", run.tokens()},
                       {"seconds", run.seconds()},
                       {"tokens_per_s", static_cast<double>(run.tokens()) / run.seconds()},
                       {"records", pretraining.task.records},
                       {task.metric, run.best()}};
  write_file(ended, result.dump(2) + "\n");
  return result;
}

}  // namespace linnet
