// inference_test.cpp -- a batch is its examples one by one, threads and spans change nothing,
// causal means causal.
#include "models/inference.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "features/feature.h"
#include "mixers/mixer.h"
#include "tests/models/small_model.h"

namespace linnet {
namespace {

// Every mixer, the first with every phi, both directions; and every mixer with a short
// convolution in front of it and n-grams in its input.
std::vector<ModelConfig> all_configs() {
  std::vector<ModelConfig> configs;
  for (const Mixer* mixer : mixers()) {
    for (bool causal : {false, true}) {
      if (causal && !mixer->causal) continue;
      for (const Feature* phi : features()) {
        if (!phi->positive) continue;
        configs.push_back(small_config(std::string(mixer->name), std::string(phi->name), causal));
        if (mixer != mixers().front()) break;  // every phi once
      }
      configs.push_back(small_config(std::string(mixer->name), "softplus", causal));
      configs.back().conv = 5;
      configs.push_back(small_config(std::string(mixer->name), "softplus", causal));
      configs.back().ngrams = 3;
      configs.back().ngram_buckets = 100;
    }
  }
  return configs;
}

TEST(InferenceTest, RaggedBatchIsOneByOneBitForBit) {
  for (const ModelConfig& config : all_configs()) {
    const Model model(config);
    std::vector<std::vector<int32_t>> rows;
    for (int64_t T :
         {int64_t{1}, int64_t{300}, int64_t{2}, kChunk - 2, kChunk - 1, kChunk, int64_t{5}})
      rows.push_back(random_tokens(T, static_cast<uint64_t>(T)));
    const std::vector<Tokens> batch(rows.begin(), rows.end());
    Context one(1);
    Inference single(one, model, small_values(model));
    std::vector<float> by_itself;
    for (const Tokens& tokens : batch) {
      const std::vector<float> logits = single.logits({&tokens, 1});
      by_itself.insert(by_itself.end(), logits.begin(), logits.end());
    }
    for (int threads : {1, 2, 3}) {
      Context context(threads);
      Inference inference(context, model, small_values(model));
      EXPECT_EQ(inference.logits(batch), by_itself)
          << config.mixer << " causal=" << config.causal << " threads=" << threads;
    }
  }
}

// Three spans: absorbed on any thread, merged in order.
TEST(InferenceTest, LongSequenceIsTheSameOnAnyNumberOfThreads) {
  for (const ModelConfig& config : all_configs()) {
    const Model model(config);
    const std::vector<int32_t> tokens = random_tokens(4 * kChunk + 77, 5);
    const Tokens sequence = tokens;
    std::vector<std::vector<float>> results;
    for (int threads : {1, 3}) {
      Context context(threads);
      Inference inference(context, model, small_values(model), 2 * kChunk);
      results.push_back(inference.logits({&sequence, 1}));
    }
    EXPECT_EQ(results[0], results[1]) << config.mixer;
  }
}

// What a causal model says of 150 tokens is the same whatever follows them.
TEST(InferenceTest, CausalLogitsDependOnThePastAlone) {
  for (const ModelConfig& config : all_configs()) {
    if (!config.causal) continue;
    const Model model(config);
    Context context(1);
    Inference inference(context, model, small_values(model));
    std::vector<int32_t> tokens = random_tokens(200, 9);
    const Tokens whole = tokens, part = Tokens(tokens).first(150);
    const std::vector<float> before = inference.logits({&part, 1}),
                             all = inference.logits({&whole, 1});
    std::fill(tokens.begin() + 150, tokens.end(), 0);
    EXPECT_EQ(inference.logits({&part, 1}), before) << config.mixer;
    EXPECT_NE(inference.logits({&whole, 1}), all) << config.mixer;
  }
}

// Parameters a position end with the config's length, whatever the embedding knows.
TEST(InferenceTest, BoundedMixersRefuseLongerSequences) {
  for (ModelConfig config : all_configs()) {
    config.length = 10;
    const Model model(config);
    EXPECT_NO_THROW(model.check(std::vector<int32_t>(10, 1))) << config.mixer;
    if (find_mixer(config.mixer).bounded) {
      EXPECT_THROW(model.check(std::vector<int32_t>(11, 1)), Error) << config.mixer;
    } else {
      EXPECT_NO_THROW(model.check(std::vector<int32_t>(11, 1))) << config.mixer;
    }
  }
}

// Softmax compares an answered row with all others: one row of the last block where one is pooled.
TEST(InferenceTest, OnlyAnsweredRowsAreCounted) {
  ModelConfig config = small_config("softmax", "softplus", false);
  config.blocks = 1;
  const auto growth = [&] {
    const Model model(config);
    return model.forward_flops(80000, true) / model.forward_flops(40000, true);
  };
  EXPECT_NEAR(growth(), 2, 0.01);
  config.pool = "mean";
  EXPECT_NEAR(growth(), 4, 0.1);
  config.pool = "cls", config.mixer = "kernel";
  const double one = Model(config).forward_flops(1000, true);
  config.pool = "mean";
  const Model all(config);
  EXPECT_LT(one, 0.5 * all.forward_flops(1000, true));
}

TEST(InferenceTest, WrongTokensAreErrors) {
  ModelConfig config = small_config("kernel", "softplus", false);
  config.positions = "learned";
  config.length = 10;
  const Model model(config);
  Context context(1);
  Inference inference(context, model, small_values(model));
  for (const std::vector<int32_t>& bad : {std::vector<int32_t>{}, std::vector<int32_t>{3, 13},
                                          std::vector<int32_t>{-1}, std::vector<int32_t>(11, 1)}) {
    const Tokens tokens = bad;
    EXPECT_THROW(inference.logits({&tokens, 1}), std::runtime_error);
  }
}

}  // namespace
}  // namespace linnet
