// pretraining.cpp -- settings of pretraining, and the run that they give.
#include "train/pretraining.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/settings.h"
#include "data/mask.h"
#include "mixers/mixer.h"

namespace linnet {
namespace {

// A look chooses among a few states of one run: more records would cost time and change little.
constexpr int64_t kMostValidationRows = 500;

template <class Settings, class Visit>
void for_each_field(Settings& s, const Visit& visit) {
  visit("pretrain", s.pretrain,
        "First, without labels: masked (hidden tokens are told), causal (the next one) or none");
  visit("pretrain_share", s.pretrain_share, "Of minutes, steps or epochs that go to that");
  visit("pretrain_lr", s.pretrain_lr, "Its learning rate; 0: as --lr");
  visit("mask_share", s.mask_share, "Share of the tokens that are hidden");
  visit("mask_span", s.mask_span,
        "Mean number of tokens that are hidden together; 0: 3 of bytes and characters, else 1");
}

PreparedTask task_of(const PretrainSettings& settings, const PreparedTask& prepared) {
  PreparedTask task = prepared;
  task.task = &find_task(settings.pretrain == "masked" ? "masked" : "lm");
  task.settings = {.task = std::string(task.task->name),
                   .mask_share = settings.mask_share,
                   .mask_span = settings.mask_span};
  task.counts.clear();
  task.many_labels = false;
  task.parts.test.reset();
  task.parts.train.more = prepared.unlabelled;
  task.records += prepared.unlabelled_records;
  task.bytes += prepared.unlabelled_bytes;
  return task;
}

// Cuts `run` down to what is left of it.
RunSettings take_share(const PretrainSettings& settings, RunSettings& run) {
  RunSettings first = run;
  const double share = settings.pretrain_share;
  if (run.steps == 1) throw Error("[train.steps] pretraining and training need a step each");
  if (run.steps > 0) {
    first.steps =
        std::clamp<int64_t>(std::llround(share * static_cast<double>(run.steps)), 1, run.steps - 1);
    run.steps -= first.steps;
  }
  first.epochs = share * run.epochs;
  run.epochs -= first.epochs;
  first.minutes = share * run.minutes;
  run.minutes -= first.minutes;
  if (settings.pretrain_lr > 0) first.lr = settings.pretrain_lr;
  first.label_smoothing = first.drop_tokens = 0;
  first.choose_by.clear();  // it has other figures
  first.validation_rows = std::min(first.validation_rows, kMostValidationRows);
  return first;
}

}  // namespace

nlohmann::ordered_json pretrain_settings_to_json(const PretrainSettings& settings) {
  nlohmann::ordered_json json;
  for_each_field(settings,
                 [&](const char* name, const auto& member, const char*) { json[name] = member; });
  return json;
}

PretrainSettings pretrain_settings_from_json(const nlohmann::json& json) {
  const auto s = settings_from_json<PretrainSettings>(
      "train", json, [](auto& settings, const auto& visit) { for_each_field(settings, visit); });
  check_setting("train", "pretrain", s.pretrain, {"none", "masked", "causal"});
  const auto check = [](const char* name, bool right, const char* range, double value) {
    if (!right) throw Error(fmt::format("[train.{}] must be {}, not {}", name, range, value));
  };
  check("pretrain_share", s.pretrain_share > 0 && s.pretrain_share < 1, "between 0 and 1",
        s.pretrain_share);
  check("pretrain_lr", s.pretrain_lr >= 0 && s.pretrain_lr <= 1e6, "0 or more", s.pretrain_lr);
  check_masking("train", s.mask_share, s.mask_span);
  return s;
}

std::map<std::string, std::string> pretrain_settings_help() {
  const PretrainSettings settings;
  std::map<std::string, std::string> help;
  for_each_field(settings,
                 [&](const char* name, const auto&, const char* text) { help[name] = text; });
  return help;
}

Pretraining derive_pretraining(const PretrainSettings& settings, const PreparedTask& prepared,
                               ModelConfig& model, RunSettings& run) {
  const bool masked = settings.pretrain == "masked";
  if (!prepared.task->labelled) {
    throw Error(fmt::format("[train.pretrain] task \"{}\" learns without labels already",
                            prepared.task->name));
  }
  if (masked && model.causal) {
    throw Error(
        "[train.pretrain] hidden tokens are told from both sides: a causal model is pretrained "
        "with --pretrain causal");
  }
  for (int64_t l = 0; !masked && l < std::min<int64_t>(model.blocks, 2); ++l) {
    if (mixer_of(model, l).causal) continue;
    throw Error(fmt::format(
        "[train.pretrain] mixer \"{}\" looks at the whole sequence, also at the next token: use "
        "--pretrain masked",
        mixer_of(model, l).name));
  }
  if (masked) model.vocab = std::max(model.vocab, int64_t{prepared.tokenizer->vocabulary()} + 1);
  check_training(train_config(run), Model(model));  // not only when its turn has come
  Pretraining first{task_of(settings, prepared), model, take_share(settings, run)};
  first.model.task = "tokens";
  first.model.classes = prepared.tokenizer->vocabulary();
  first.model.loss = "softmax";
  first.model.pool = "none";
  first.model.bag = false;
  first.model.wide = first.model.regions = 0;
  first.model.causal = !masked;
  check_config(first.model);
  return first;
}

}  // namespace linnet
