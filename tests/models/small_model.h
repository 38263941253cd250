// small_model.h -- a small model and tokens for it, as the tests of inference and of conv run them.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/random.h"
#include "models/model.h"

namespace linnet {

inline ModelConfig small_config(const std::string& mixer, const std::string& phi, bool causal) {
  ModelConfig config;
  config.vocab = 13;
  config.classes = 3;
  config.length = 1000;
  config.width = 20;
  config.heads = 2;
  config.blocks = 2;
  config.hidden = 24;
  config.head_units = 10;
  config.mixer = mixer;
  config.phi = phi;
  config.causal = causal;
  config.positions = "sinusoidal";
  config.pool = causal ? "last" : "cls";
  return config;
}

inline std::vector<int32_t> random_tokens(int64_t T, uint64_t seed) {
  Random random(seed);
  std::vector<int32_t> tokens;
  for (int64_t t = 0; t < T; ++t) tokens.push_back(static_cast<int32_t>(random.below(13)));
  return tokens;
}

// Initial values, but convolutions far from the identity and n-grams far from the zeros that they
// start as.
inline Block small_values(const Model& model) {
  Block values = Parameters::initial(model, 3);
  Random random(4);
  for (const BlockPlan& block : model.blocks()) {
    std::generate_n(values.data() + block.conv.weight, block.conv.taps * block.conv.width,
                    [&] { return static_cast<float>(random.normal()); });
  }
  std::generate_n(values.data() + model.ngrams().weight,
                  model.ngrams().buckets * model.ngrams().width,
                  [&] { return static_cast<float>(random.normal()); });
  return values;
}

}  // namespace linnet
