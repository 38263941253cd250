// run_memory.cpp -- copies of the weights, activations, the window of data.
#include "train/run_memory.h"

#include <fmt/format.h>

#include <algorithm>

namespace linnet {
namespace {

constexpr int64_t kLookExamples = 512;  // at a time
constexpr double kToken = sizeof(int32_t), kFloat = sizeof(float);

// At most: a token is at least a byte of text.
int64_t longest_of(const ModelConfig& config, const PreparedTask& prepared) {
  return std::min(config.length, std::max<int64_t>(prepared.longest, 1));
}

// Of all texts. Windows have their tokens several times.
double tokens_of(const ModelConfig& config, const PreparedTask& prepared) {
  const auto bytes = static_cast<double>(std::max(prepared.bytes, prepared.records));
  if (prepared.settings.stride == 0) return bytes;
  const double times =
      static_cast<double>(config.length) / static_cast<double>(prepared.settings.stride);
  return bytes * std::max(times, 1.0);
}

MemoryNeed data_need(const ModelConfig& config, const PreparedTask& prepared,
                     const RunSettings& settings) {
  // Where every token has a class, that stands beside it.
  const double each = (config.task == "tokens" ? 2 : 1) * kToken;
  const double all = tokens_of(config, prepared);
  // The next window is read while one is in use.
  const double kept = std::min(all, 2 * static_cast<double>(settings.window));
  const double seen = std::min(all, static_cast<double>(settings.validation_rows) *
                                        static_cast<double>(longest_of(config, prepared)));
  MemoryNeed need;
  need.add("train.window", fmt::format("{:.0f} tokens of data (--window)", kept), each * kept);
  need.add("train.validation_rows", fmt::format("{:.0f} tokens of validation", seen), each * seen);
  if (config.ngrams == 0) return need;
  // What the rows of n-grams are owed is kept until the step.
  const double batch = settings.batch_tokens > 0
                           ? static_cast<double>(settings.batch_tokens + config.length)
                           : static_cast<double>(settings.batch) *
                                 static_cast<double>(longest_of(config, prepared)) *
                                 (config.task == "match" ? 2 : 1);
  const double step = settings.accumulate_tokens > 0
                          ? static_cast<double>(settings.accumulate_tokens) + std::min(batch, all)
                          : static_cast<double>(settings.accumulate) * std::min(batch, all);
  const auto columns = static_cast<double>(config.width);
  need.add("train.batch", fmt::format("gradients of the n-grams of {:.0f} tokens a step", step),
           step * (kFloat * columns + 8 * static_cast<double>(config.ngrams - 1)));
  return need;
}

// The texts' n-grams and tokens, and the tables: twice to keep, once to judge, and twice to fit.
MemoryNeed sides_need(const ModelConfig& config, const PreparedTask& prepared) {
  MemoryNeed need;
  if (config.wide == 0 && config.regions == 0) return need;
  const Model whole(config);
  need.add(weights_need(whole, {.dense = 3, .packed = 0, .sparse = 3, .side = 5}));
  const std::string_view kind = prepared.tokenizer->kind();
  const double per_byte = kind == "bytes" || kind == "chars" ? 1 : 0.25;  // words have blanks
  const double tokens = per_byte * tokens_of(config, prepared);
  need.add("config.wide", fmt::format("the n-grams of {:.0f} tokens of data", tokens),
           tokens * kToken * static_cast<double>(config.wide + (config.regions > 0 ? 1 : 0)));
  return need;
}

}  // namespace

MemoryNeed training_need(const Model& model, const TrainConfig& config, int threads, int64_t T) {
  const double average = config.ema > 0 ? 1 : 0;
  // Values, moments and lanes; and the copy of a look at validation, whose panels are one more.
  const double dense = 1 + 2 + lanes_of(config) + average + 1;
  MemoryNeed need = weights_need(
      model, {.dense = dense, .packed = 2, .sparse = 2 + average, .side = 2 + average});
  const int64_t examples = model.of_tokens() ? threads : kLookExamples;
  need.add("config.length",
           fmt::format("activations of {} tokens on {} threads (--length, --threads)", T, threads),
           threads * training_bytes(model, T, config.recompute));
  need.add(inference_need(model, threads, examples, T, 0));
  return need;
}

MemoryNeed run_need(const ModelConfig& config, const PreparedTask& prepared,
                    const RunSettings& settings, int threads) {
  ModelConfig deep = config;
  deep.wide = deep.regions = 0;
  MemoryNeed need =
      training_need(Model(deep), train_config(settings), threads, longest_of(config, prepared));
  need.add(data_need(config, prepared, settings));
  need.add(sides_need(config, prepared));
  return need;
}

}  // namespace linnet
