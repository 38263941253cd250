// conv_test.cpp -- a model with a short convolution: starts as the one without, and neither chunks,
// spans, threads nor recomputing show.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "models/inference.h"
#include "models/training_run.h"
#include "tests/models/small_model.h"

namespace linnet {
namespace {

// The last row is pooled, so that what stands in front of it counts in both directions.
ModelConfig conv_config(const std::string& mixer, bool causal, int64_t conv) {
  ModelConfig config = small_config(mixer, "softplus", causal);
  config.conv = conv;
  config.length = 400;
  config.pool = "last";
  return config;
}

// Every mixer in both directions.
std::vector<ModelConfig> all_configs(int64_t conv) {
  std::vector<ModelConfig> configs;
  for (const Mixer* mixer : mixers()) {
    for (const bool causal : {false, true}) {
      if (causal && !mixer->causal) continue;
      configs.push_back(conv_config(std::string(mixer->name), causal, conv));
    }
  }
  return configs;
}

std::vector<float> infer(const Model& model, Block values, Tokens tokens, int threads = 1,
                         int64_t span = kSpan) {
  Context context(threads);
  Inference inference(context, model, std::move(values), span);
  return inference.logits({&tokens, 1});
}

// What the training's forward and backward give.
struct Trained {
  std::vector<float> logits, grads;
};

Trained train(const Model& model, Block values, Tokens tokens, bool recompute) {
  Context context(1);
  const Parameters parameters(context, model, std::move(values), true);
  const Weights weights = parameters.weights();
  const Sinusoids sinusoids(model.config().width);
  Workspace workspace;
  TrainingRun run(model, sinusoids, weights, workspace, {.recompute = recompute});
  const std::span<const float> logits = run.forward({&tokens, 1});
  Trained result{{logits.begin(), logits.end()},
                 std::vector<float>(static_cast<size_t>(model.layout().floats()))};
  const float dlogits[] = {1, -2, 0.5};
  run.backward(dlogits, result.grads.data());
  return result;
}

void expect_close(const std::vector<float>& a, const std::vector<float>& b,
                  const std::string& what) {
  for (size_t i = 0; i < b.size(); ++i) {
    EXPECT_NEAR(a[i], b[i], 2e-5 * (1 + std::abs(b[i]))) << what;
  }
}

std::string name(const ModelConfig& config) {
  return config.mixer + (config.causal ? " causal" : "");
}

TEST(ConvTest, StartsAsTheModelWithout) {
  const std::vector<int32_t> tokens = random_tokens(300, 1);
  for (ModelConfig config : all_configs(4)) {
    const Model with(config);
    config.conv = 0;
    const Model without(config);
    EXPECT_EQ(with.layout().parameters() - without.layout().parameters(), 2 * 4 * config.width);
    EXPECT_EQ(with.forward_flops(300, true) - without.forward_flops(300, true),
              2 * 300 * 2 * 4 * config.width);
    EXPECT_EQ(infer(with, Parameters::initial(with, 3), tokens),
              infer(without, Parameters::initial(without, 3), tokens))
        << name(config);
    EXPECT_EQ(train(with, Parameters::initial(with, 3), tokens, false).logits,
              train(without, Parameters::initial(without, 3), tokens, false).logits)
        << name(config);
  }
}

TEST(ConvTest, RecomputingChangesNothing) {
  for (const int64_t T : {int64_t{2}, kChunk, kChunk + 1, int64_t{300}}) {
    const std::vector<int32_t> tokens = random_tokens(T, 2);
    for (const ModelConfig& config : all_configs(5)) {
      const Model model(config);
      const Trained kept = train(model, small_values(model), tokens, false),
                    again = train(model, small_values(model), tokens, true);
      EXPECT_EQ(again.logits, kept.logits) << name(config) << " " << T;
      EXPECT_EQ(again.grads, kept.grads) << name(config) << " " << T;
    }
  }
}

// Inference overwrites its rows as it goes, training keeps them: the same logits.
TEST(ConvTest, InferenceEqualsTrainingAcrossChunks) {
  for (const int64_t T : {int64_t{1}, int64_t{4}, kChunk + 1, int64_t{300}}) {
    const std::vector<int32_t> tokens = random_tokens(T, 3);
    for (const int64_t conv : {2, 5, 64}) {
      for (const ModelConfig& config : all_configs(conv)) {
        const Model model(config);
        expect_close(infer(model, small_values(model), tokens),
                     train(model, small_values(model), tokens, false).logits,
                     name(config) + " " + std::to_string(T));
      }
    }
  }
}

// The last row is the third of a span: its queries, and in the window all that it sees, come from
// rows that another span overwrites.
TEST(ConvTest, RowsInFrontOfASpanAreThoseBeforeItWasOverwritten) {
  const std::vector<int32_t> tokens = random_tokens(2 * kChunk + 3, 5);
  for (const bool causal : {false, true}) {
    for (const char* mixer : {"window", "kernel", "poly-bilinear"}) {
      ModelConfig config = conv_config(mixer, causal, 5);
      const Model model(config);
      const std::vector<float> logits = infer(model, small_values(model), tokens, 1, 2 * kChunk);
      expect_close(logits, train(model, small_values(model), tokens, true).logits, name(config));
      for (const int threads : {2, 3}) {
        EXPECT_EQ(infer(model, small_values(model), tokens, threads, 2 * kChunk), logits)
            << name(config);
      }
    }
  }
}

}  // namespace
}  // namespace linnet
