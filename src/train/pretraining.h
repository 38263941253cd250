// pretraining.h -- a first run on the same texts, without their labels: hidden tokens, or the next
// one, are to be told, and what the encoder learnt is what the run on the labels begins with
// (Amos et al. 2023, "Never train from scratch").
//
// It is a run like any other, in the folder "pretrain" of the whole: a task of its own (masked or
// lm), a model with the same encoder and a head of tokens, and a share of the time.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "data/prepare.h"
#include "models/config.h"
#include "train/run_settings.h"

namespace linnet {

struct PretrainSettings {
  std::string pretrain = "none";
  double pretrain_share = 0.5;
  double pretrain_lr = 0;
  double mask_share = 0.15;
  double mask_span = 0;
};

nlohmann::ordered_json pretrain_settings_to_json(const PretrainSettings& settings);
// Checked; an Error names the field, e.g. "[train.pretrain_share] ...".
PretrainSettings pretrain_settings_from_json(const nlohmann::json& json);
std::map<std::string, std::string> pretrain_settings_help();

// The first of the two runs.
struct Pretraining {
  PreparedTask task;
  ModelConfig model;
  RunSettings settings;
};

// Derives the first run from the second and takes its share from the settings of that. The
// vocabulary of both models gets an id more, the mask. An Error says what cannot be pretrained.
Pretraining derive_pretraining(const PretrainSettings& settings, const PreparedTask& prepared,
                               ModelConfig& model, RunSettings& run);

}  // namespace linnet
