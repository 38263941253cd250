// config_test.cpp -- a wrong config is one sentence with the field; a right one survives the round
// trip; known sizes.
#include "models/config.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "layers/feed_forward.h"
#include "mixers/mixer.h"
#include "models/model.h"
#include "models/profiles.h"

namespace linnet {
namespace {

std::string error_of(const std::string& text) {
  try {
    parse_config(text, "c.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ConfigTest, RoundTrip) {
  ModelConfig config;
  config.mixer = "softmax";
  config.ffn = "squares-linear";
  config.ffn_match = "params";
  config.conv = 4;
  config.ngrams = 3;
  config.ngram_buckets = 5000;
  config.dropout = 0.25;
  config.width = 96;
  config.heads = 3;
  const std::string text = config_to_json(config).dump();
  EXPECT_EQ(config_to_json(parse_config(text, "c.json")).dump(), text);
}

TEST(ConfigTest, WrongOnesNameTheField) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"width": 130, "heads": 4})",
       "[config.heads] heads must divide width: width=130, heads=4"},
      {R"({"mixer": "magic"})", "[config.mixer]"},
      {R"({"phi": "magic"})", "[config.phi, character 1]"},
      {R"({"ffn": "magic"})", "[config.ffn]"},
      {R"({"ffn_match": "flops"})", "[config.ffn_match] must be one of none, params"},
      {R"({"conv": 65})", "[config.conv] must be 0 to 64, not 65"},
      {R"({"conv": -1})", "[config.conv] must be 0 to 64, not -1"},
      {R"({"ngrams": 1})", "[config.ngrams] must be 0 (none) or 2 to 8, not 1"},
      {R"({"ngrams": 9})", "[config.ngrams]"},
      {R"({"ngrams": -2})", "[config.ngrams]"},
      {R"({"ngram_buckets": 0})", "[config.ngram_buckets] must be 1 to 16777216, not 0"},
      {R"({"ngram_buckets": 16777217})", "[config.ngram_buckets]"},
      {R"({"width": -4})", "[config.width]"},
      {R"({"width": 0})", "[config.width]"},
      {R"({"blocks": 1e3})", "[config.blocks] must be a whole number"},
      {R"({"vocab": 99999999999999999999})", "[config.vocab]"},
      {R"({"vocab": 18446744073709551615})", "[config.vocab]"},
      {R"({"dropout": 1.0})", "[config.dropout]"},
      {R"({"dropout": "0.1"})", "[config.dropout]"},
      {R"({"norm_eps": 0})", "[config.norm_eps]"},
      {R"({"causal": true, "pool": "cls"})", "[config.pool]"},
      {R"({"causal": 1})", "[config.causal]"},
      {R"({"task": "paint"})", "[config.task]"},
      {R"({"loss": "hinge"})", "[config.loss] must be one of softmax, sigmoid"},
      {R"({"loss": "sigmoid", "task": "tokens", "pool": "none"})", "[config.loss] a token has one"},
      {R"({"positions": "rotary"})", "[config.positions]"},
      {R"({"widht": 64})", "[config.widht] no such setting"},
      {R"({"width": [64]})", "whole number"},
      {R"({"data": {"labels": [["a"]]}})", "as deep as that"},
      {R"([])", "JSON object"},
      {R"({"width": 64)", "not valid JSON"},
      {"", "not valid JSON"},
  };
  for (const auto& [text, want] : cases) {
    const std::string message = error_of(text);
    EXPECT_NE(message.find(want), std::string::npos) << text << " -> " << message;
    EXPECT_EQ(message.rfind("[c.json]", 0), 0u) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
  EXPECT_NE(error_of(std::string("{}\0{}", 5)).find("zero byte"), std::string::npos);
  EXPECT_NE(error_of(std::string(100000, '[')), "");
}

// Every feed-forward layer within half a hidden unit of GELU's parameters.
TEST(ConfigTest, FeedForwardsMatchInParameters) {
  ModelConfig config;
  const int64_t gelu = Model(config).layout().parameters();
  for (const FeedForward* kind : feed_forwards()) {
    config.ffn = kind->name;
    config.ffn_match = "none";
    EXPECT_EQ(Model(config).blocks().front().feed.hidden, config.hidden);
    config.ffn_match = "params";
    const int64_t unit = kind->parameters(config.width, 1) - kind->parameters(config.width, 0);
    const int64_t difference = Model(config).layout().parameters() - gelu;
    EXPECT_LE(std::abs(difference), config.blocks * (unit / 2)) << kind->name;
  }
}

TEST(ConfigTest, PaperSizesAreExact) {
  const auto parameters = [](const char* row) {
    return Model(profile_config("paper", "listops", row)).layout().parameters();
  };
  EXPECT_EQ(parameters("transformer"), 21019658);
  EXPECT_EQ(parameters("linear-kernel"), 21216266);
  EXPECT_THROW(profile_config("paper", "listops", "magic"), Error);
  EXPECT_THROW(profile_config("paper", "magic", "transformer"), Error);
  EXPECT_THROW(profile_config("magic", "listops", "transformer"), Error);
}

TEST(ConfigTest, TheFirstBlockMayHaveAnotherMixer) {
  ModelConfig config;
  config.blocks = 2;
  EXPECT_EQ(mixers_text(config), "kernel");
  config.first_mixer = "scan";
  EXPECT_EQ(mixers_text(config), "scan, then kernel");
  EXPECT_EQ(&mixer_of(config, 0), &find_mixer("scan"));
  EXPECT_EQ(&mixer_of(config, 1), &find_mixer("kernel"));
  config.blocks = 1;
  EXPECT_EQ(mixers_text(config), "scan");
  config.first_mixer = "sieve";
  try {
    check_config(config);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("[config.first_mixer]"), std::string::npos);
  }
  config.first_mixer = "linformer";  // looks at the whole sequence
  config.causal = true;
  config.pool = "mean";
  EXPECT_THROW(check_config(config), Error);
}

}  // namespace
}  // namespace linnet
