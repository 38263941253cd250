// run_settings.cpp -- reads, checks and writes the settings of a run.
#include "train/run_settings.h"

#include <fmt/format.h>

#include <cmath>

#include "core/error.h"
#include "core/settings.h"

namespace linnet {
namespace {

template <class Settings, class Visit>
void for_each_field(Settings& s, const Visit& visit) {
  visit("steps", s.steps, "Ends after so many optimiser steps");
  visit("epochs", s.epochs, "Ends after so many passes over the data");
  visit("minutes", s.minutes, "Ends after so much time; the schedule is fitted to the clock");
  visit("seed", s.seed, "Of initial values, order and dropout");
  visit("batch", s.batch, "Sequences of a batch");
  visit("batch_tokens", s.batch_tokens, "Instead: as many sequences as have so many tokens");
  visit("accumulate", s.accumulate, "Batches of one optimiser step");
  visit("accumulate_tokens", s.accumulate_tokens,
        "Instead: as many batches as it takes to so many tokens");
  visit("group", s.group, "Batches that are sorted by length together; 1: none");
  visit("window", s.window, "Tokens kept in memory; larger data streams through");
  visit("schedule", s.schedule, "Of the learning rate: cosine, linear, constant or rsqrt");
  visit("lr", s.lr, "Learning rate at its peak; rsqrt: before the root");
  visit("warmup", s.warmup, "Steps until the learning rate is whole");
  visit("final_lr", s.final_lr, "Share of the learning rate at the end: cosine, linear");
  visit("sparse_lr", s.sparse_lr, "Learning rate of the table of n-grams");
  visit("embed_rate", s.embed_rate, "Times the learning rate: of the embeddings of tokens");
  visit("weight_decay", s.weight_decay, "Of matrices; norms and biases have none");
  visit("clip", s.clip, "Largest norm of the gradient; 0: any");
  visit("label_smoothing", s.label_smoothing, "Share of the target that goes to all classes");
  visit("drop_tokens", s.drop_tokens, "Share of a text's tokens that are left out, drawn anew");
  visit("sampled", s.sampled,
        "Tokens: the loss is over the targets and so many other classes; 0: all");
  visit("ema", s.ema, "Decay of averaged weights, e.g. 0.999; 0: none");
  visit("orthogonality", s.orthogonality, "Pull of orthogonal feature maps, 0 to 1");
  visit("recompute", s.recompute, "Small memory, more time");
  visit("evaluations", s.evaluations, "Looks at validation during the run");
  visit("validation_rows", s.validation_rows, "Records of validation that are looked at");
  visit("choose_by", s.choose_by,
        "The figure of validation that the model is chosen by: loss, accuracy, macro_f1, micro_f1, "
        "roc_auc or bits_per_byte; if none is named, the task's");
  visit("patience", s.patience, "Ends after so many looks without gain; 0: never");
  visit("checkpoint_every", s.checkpoint_every, "Steps; 0: at every look and every minute");
}

void check_number(const char* name, double value, double least, double most) {
  if (value >= least && value <= most) return;
  throw Error(fmt::format("[train.{}] must be {} to {}, not {}", name, least, most, value));
}

}  // namespace

nlohmann::ordered_json run_settings_to_json(const RunSettings& settings) {
  nlohmann::ordered_json json;
  for_each_field(settings,
                 [&](const char* name, const auto& member, const char*) { json[name] = member; });
  return json;
}

RunSettings run_settings_from_json(const nlohmann::json& json) {
  const auto s = settings_from_json<RunSettings>(
      "train", json, [](auto& settings, const auto& visit) { for_each_field(settings, visit); });
  constexpr int64_t kMost = int64_t{1} << 40;
  check_setting("train", "steps", s.steps, 0, kMost);
  check_number("epochs", s.epochs, 0, 1e9);
  check_number("minutes", s.minutes, 0, 1e9);
  check_setting("train", "seed", s.seed, 0, kMost);
  check_setting("train", "accumulate", s.accumulate, 1, 1 << 20);
  check_setting("train", "accumulate_tokens", s.accumulate_tokens, 0, kMost);
  check_number("label_smoothing", s.label_smoothing, 0, 0.999);
  check_number("drop_tokens", s.drop_tokens, 0, 0.99);
  check_setting("train", "sampled", s.sampled, 0, 1 << 20);
  check_number("orthogonality", s.orthogonality, 0, 1);
  check_setting("train", "evaluations", s.evaluations, 1, 1 << 20);
  check_setting("train", "validation_rows", s.validation_rows, 1, kMost);
  check_setting("train", "patience", s.patience, 0, 1 << 20);
  check_setting("train", "checkpoint_every", s.checkpoint_every, 0, kMost);
  check_feed(feed_options(s));
  check_optimizer(train_config(s).optimizer);
  return s;
}

std::map<std::string, std::string> run_settings_help() {
  RunSettings settings;
  std::map<std::string, std::string> help;
  for_each_field(settings,
                 [&](const char* name, const auto&, const char* text) { help[name] = text; });
  return help;
}

FeedOptions feed_options(const RunSettings& s) {
  return {.seed = static_cast<uint64_t>(s.seed),
          .batch = s.batch,
          .batch_tokens = s.batch_tokens,
          .group = s.group,
          .window = s.window};
}

TrainConfig train_config(const RunSettings& s) {
  TrainConfig config;
  config.optimizer.schedule = s.schedule;
  config.optimizer.lr = s.lr;
  config.optimizer.final_lr = s.final_lr;
  config.optimizer.sparse_lr = s.sparse_lr;
  config.optimizer.embed_rate = s.embed_rate;
  config.optimizer.warmup = s.warmup;
  config.optimizer.weight_decay = s.weight_decay;
  config.optimizer.clip = s.clip;
  config.label_smoothing = s.label_smoothing;
  config.sampled = s.sampled;
  config.ema = s.ema;
  config.orthogonality = s.orthogonality;
  config.recompute = s.recompute;
  config.seed = static_cast<uint64_t>(s.seed);
  return config;
}

}  // namespace linnet
