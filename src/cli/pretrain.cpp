// pretrain.cpp -- the run without labels, and a file that says that it has ended.
#include "cli/pretrain.h"

#include "core/folder.h"
#include "train/pretraining_files.h"

namespace linnet {

using Json = nlohmann::ordered_json;

Json pretrain(Context& context, const std::filesystem::path& folder, const Pretraining& pretraining,
              const PreparedTask& next, const ModelConfig& next_model,
              const std::filesystem::path& start, bool quiet, Progress& bar, const BarPart& part) {
  const std::filesystem::path own = folder / kPretrainFolder;
  if (Json ended = load_result(own); !ended.is_null()) {
    bar.show(part.to, "pretrained");
    return ended;
  }
  make_folders(own);
  // A fault of the data should not wait until pretraining is over.
  for (const DataPart* labelled : {&next.parts.train, &next.parts.validation})
    check_examples(*labelled, ExampleMaker(next.settings, *next.tokenizer, next_model, true),
                   [&](double) { bar.show(0, "looking at the labels"); });
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
  save_result(own, result);
  return result;
}

}  // namespace linnet
