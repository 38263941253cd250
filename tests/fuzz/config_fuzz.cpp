// config_fuzz.cpp -- any bytes as config.json give a model that answers and learns, or one clear
// Error.
//
//   config_fuzz tests/fuzz/corpus/config
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "models/config.h"
#include "models/model.h"
#include "train/diagnosis.h"
#include "train/evaluation.h"
#include "train/trainer.h"

namespace {

using namespace linnet;

// Beyond these a model is only built: a run of the fuzzer stays below a few milliseconds.
constexpr int64_t kMostParameters = 60'000;
constexpr double kMostFlops = 2e6;

void check_message(std::string_view message) {
  // The file by its name, or the setting that a layer cannot be built with.
  const bool placed = message.starts_with("[fuzz] ") || message.starts_with("[config.");
  LINNET_ASSERT(placed && message.size() < 1000);
  for (const char c : message) LINNET_ASSERT(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
}

std::vector<int32_t> tokens_of_length(int64_t length, const ModelConfig& config) {
  std::vector<int32_t> tokens;
  for (int64_t t = 0; t < length; ++t)
    tokens.push_back(static_cast<int32_t>((7 * t + length) % config.vocab));
  return tokens;
}

// Two examples, of several tokens and of one.
std::vector<Example> examples_of(const ModelConfig& config) {
  std::vector<Example> examples;
  for (const int64_t length : {std::min<int64_t>(config.length, 9), int64_t{1}}) {
    Example example{.tokens = tokens_of_length(length, config)};
    example.label = static_cast<int>(length % config.classes);
    if (config.task == "match") example.other = tokens_of_length(1, config);
    if (config.loss == "sigmoid") {
      example.targets = {example.label};
      example.label = -1;
    }
    if (config.task == "tokens")
      example.targets.assign(example.tokens.size(), static_cast<int32_t>(config.classes - 1));
    examples.push_back(std::move(example));
  }
  return examples;
}

void check_answers(Context& context, const Model& model, const std::vector<Example>& examples) {
  const Block values = Parameters::initial(model, 1);
  Evaluation evaluation(context, model, values.data());
  const Predictions predictions = evaluation.add(examples);
  if (!evaluation.finite()) {
    try {
      refuse_answer("fuzz", model, values.data());
    } catch (const Error& error) {
      check_message(error.what());
    }
    return;
  }
  LINNET_ASSERT(std::isfinite(evaluation.total().loss));
  for (const float p : predictions.probabilities) LINNET_ASSERT(p >= 0 && p <= 1.0001f);
}

void check_step(Context& context, const ModelConfig& config, const std::vector<Example>& examples,
                bool recompute) {
  const Model model(config);
  TrainConfig train;
  train.optimizer = {.lr = 0.01, .warmup = 1, .schedule = "constant"};
  train.recompute = recompute;
  Trainer trainer(context, model, Parameters::initial(model, 1), train);
  std::vector<const Example*> batch;
  for (const Example& example : examples) batch.push_back(&example);
  const StepResult result = trainer.accumulate(batch);
  const double norm = trainer.update();
  if (!std::isfinite(result.loss) || !std::isfinite(norm)) trainer.diagnose(batch);
  for (int64_t i = 0; std::isfinite(norm) && i < model.layout().floats(); ++i)
    LINNET_ASSERT(std::isfinite(trainer.values()[i]));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Context context(1);
  try {
    ModelConfig config =
        parse_config(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
    const nlohmann::ordered_json json = config_to_json(config);
    LINNET_ASSERT(config_to_json(config_from_json(json)) == json);
    const Model model(config);
    const std::vector<Example> examples = examples_of(config);
    const auto tokens = static_cast<int64_t>(examples[0].tokens.size());
    if (model.layout().parameters() > kMostParameters ||
        model.forward_flops(tokens, false) > kMostFlops || config.blocks > 8)
      return 0;
    check_answers(context, model, examples);
    config.wide = config.regions = 0;  // which are fitted, not trained
    check_step(context, config, examples, size % 2 == 0);
  } catch (const Error& error) {
    check_message(error.what());
  }
  return 0;
}
