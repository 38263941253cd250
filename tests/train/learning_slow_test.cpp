// learning_slow_test.cpp -- what takes hundreds of steps: every mixer learns, orthogonal maps stay
// so.
#include <gtest/gtest.h>

#include "mixers/mixer.h"
#include "tests/train/small_run.h"
#include "train/orthogonality.h"

namespace linnet {
namespace {

TEST(LearningTest, LearnsTwoBatchesByHeart) {
  for (const Mixer* mixer : mixers()) {
    ModelConfig config = small_config(std::string(mixer->name));
    config.dropout = 0;
    const Trajectory result = train(config, 2, false, 120);
    EXPECT_LT(result.losses.back(), 0.8 * result.losses.front()) << mixer->name;
  }
}

// max |W W^T - I| after 200 steps on ListOps.
double after_training(const std::string& phi, double lambda) {
  ModelConfig config = small_config("kernel");
  config.phi = phi;
  config.dropout = 0;
  const Model model(config);
  Context context(2);
  Trainer trainer(
      context, model, Parameters::initial(model, 1),
      {.optimizer = {.lr = 0.05, .weight_decay = 0.1, .warmup = 100}, .orthogonality = lambda});
  EXPECT_LT(worst_orthogonality(model.layout(), trainer.values()), 1e-5) << phi;
  const std::vector<Example> rows = listops_rows(1600);
  for (size_t step = 0; step < 200; ++step) {
    std::vector<const Example*> batch;
    for (size_t i = 0; i < 32; ++i) batch.push_back(&rows[(step * 32 + i) % rows.size()]);
    trainer.accumulate(batch);
    trainer.update();
  }
  return worst_orthogonality(model.layout(), trainer.values());
}

TEST(LearningTest, HoldsInTrainingAndDriftsWithout) {
  for (const char* phi : {"orth-softplus", "1xoglu", "2xoglu", "3xaoglu"}) {
    const double held = after_training(phi, 0.1), free = after_training(phi, 0);
    EXPECT_LT(held, 0.05) << phi;
    EXPECT_GT(free, 0.05) << phi;
  }
}

}  // namespace
}  // namespace linnet
