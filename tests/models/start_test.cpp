// start_test.cpp -- sizes at the start: what they scale and what they leave alone.
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "tests/models/small_model.h"

namespace linnet {
namespace {

// The largest number of a parameter.
float largest(const Model& model, const Block& values, const std::string& name) {
  for (const ParamSpec& spec : model.layout().specs()) {
    if (spec.name != name) continue;
    float most = 0;
    for (int64_t i = 0; i < spec.size(); ++i)
      most = std::max(most, std::abs(values.data()[spec.offset + i]));
    return most;
  }
  ADD_FAILURE() << "no parameter " << name;
  return 0;
}

TEST(StartTest, EachSizeScalesItsOwn) {
  ModelConfig config = small_config("kernel", "orth-softplus", false);
  config.ffn = "squares-linear";
  const Model usual(config);
  config.init_embed = 0.1;
  config.init_qk = 4;
  config.init_out = 0;
  const Model scaled(config);
  const Block a = Parameters::initial(usual, 3), b = Parameters::initial(scaled, 3);
  for (const ParamSpec& spec : usual.layout().specs()) {
    const std::string& name = spec.name;
    const bool out = name.ends_with("out.weight") || name.ends_with("ffn.linear.weight");
    const bool qk = name.ends_with("mix.q.weight") || name.ends_with("mix.k.weight");
    const float factor = out ? 0.0f : qk ? 4.0f : name == "embed.weight" ? 0.1f : 1.0f;
    const float before = largest(usual, a, name);
    EXPECT_NEAR(largest(scaled, b, name), factor * before, 1e-5f * before) << name;
  }
}

TEST(StartTest, SizesAreChecked) {
  ModelConfig config = small_config("kernel", "softplus", false);
  config.init_out = 0;
  EXPECT_NO_THROW(check_config(config));
  config.init_embed = 0;
  EXPECT_THROW(check_config(config), Error);
  config.init_embed = 1;
  config.init_qk = 101;
  EXPECT_THROW(check_config(config), Error);
}

}  // namespace
}  // namespace linnet
