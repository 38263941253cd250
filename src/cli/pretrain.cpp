// pretrain.cpp -- the run without labels, and a file that says that it has ended.
#include "cli/pretrain.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/file.h"
#include "core/folder.h"
#include "core/settings.h"
#include "models/model_folder.h"

namespace linnet {

using Json = nlohmann::ordered_json;

namespace {

constexpr const char* kStart = "start.json";

Json start_of(const PretrainSettings& from, const std::string& model, int64_t records,
              int64_t bytes) {
  Json json = pretrain_settings_to_json(from);
  json["init"] = model;
  json["unlabelled_records"] = records;
  json["unlabelled_bytes"] = bytes;
  return json;
}
Json start_of(const PreparedTask& prepared, const PretrainSettings& settings,
              const std::string& init) {
  return start_of(settings, init, prepared.unlabelled_records, prepared.unlabelled_bytes);
}
// Of a run from nothing, which has no such file.
Json plain_start() { return start_of({}, "", 0, 0); }

// Its beginning is not written yet.
bool is_new(const std::filesystem::path& folder) {
  return !std::filesystem::exists(folder / kStart) && !std::filesystem::exists(folder / "run.json");
}

}  // namespace

void save_start(const std::filesystem::path& folder, const PreparedTask& prepared,
                const PretrainSettings& settings, const std::string& init) {
  const Json now = start_of(prepared, settings, init);
  if (is_new(folder) && now != plain_start()) write_file(folder / kStart, now.dump(2) + "\n");
}

void check_start(const std::filesystem::path& folder, const PreparedTask& prepared,
                 const PretrainSettings& settings, const std::string& init) {
  if (is_new(folder)) return;
  const Json now = start_of(prepared, settings, init);
  const std::filesystem::path path = folder / kStart;
  const nlohmann::json before =
      std::filesystem::exists(path)
          ? parse_settings(read_file(path, kLargestConfigFile), place_of(path))
          : nlohmann::json(plain_start());
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
  make_folders(own);
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
