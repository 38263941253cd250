// optimizer_test.cpp -- rates of single parameters.
#include "train/optimizer.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/error.h"
#include "tests/train/small_run.h"

namespace linnet {
namespace {

TEST(OptimizerTest, EmbeddingsHaveARateOfTheirOwn) {
  Context context(2);
  const Model model(small_config("kernel"));
  const ParamLayout& layout = model.layout();
  const auto floats = static_cast<size_t>(layout.dense_floats());
  // One step from zero with the same gradient everywhere.
  const auto moved = [&](double embed_rate) {
    Optimizer optimizer(layout, {.weight_decay = 0, .embed_rate = embed_rate});
    std::vector<float> grads(floats, 0.01f), values(floats, 0.0f);
    optimizer.step(context, 0.001, 1, grads.data(), values.data());
    return values;
  };
  const std::vector<float> plain = moved(1), none = moved(0), fast = moved(8);
  for (const ParamSpec& spec : layout.specs()) {
    if (!spec.learned) continue;
    const bool embedding = spec.name == "embed.weight";
    const auto at = static_cast<size_t>(spec.offset);
    EXPECT_LT(plain[at], 0) << spec.name;
    EXPECT_FLOAT_EQ(none[at], embedding ? 0 : plain[at]) << spec.name;
    EXPECT_FLOAT_EQ(fast[at], embedding ? 8 * plain[at] : plain[at]) << spec.name;
  }
  EXPECT_THROW(moved(-1), Error);
}

}  // namespace
}  // namespace linnet
