// state_test.cpp -- a run that goes on from its saved state is bit for bit the undisturbed one; a
// state file that does not fit is one sentence, and changes nothing.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "tests/train/small_run.h"
#include "tests/train/state_file.h"

namespace linnet {
namespace {

class StateTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::path(testing::TempDir()) /
            ("linnet_state_" + std::to_string(getpid()) + ".safetensors");
  }
  void TearDown() override { std::filesystem::remove(path_); }

  static TrainConfig setup(double ema) {
    TrainConfig config;
    config.optimizer = {.lr = 0.01, .weight_decay = 0.01, .warmup = 4, .schedule = "cosine"};
    config.optimizer.steps = 12;
    config.label_smoothing = 0.1;
    config.ema = ema;
    config.seed = 0xFFFF'FFFF'FFFF'FF01;
    return config;
  }
  // Steps `from` to `to` of the run, each on its own batch and of two halves; their losses.
  std::vector<double> run(Trainer& trainer, int from, int to) const {
    std::vector<double> losses;
    for (int step = from; step < to; ++step) {
      for (size_t half = 0; half < 2; ++half) {
        std::vector<const Example*> batch;
        for (size_t i = 0; i < 12; ++i)
          batch.push_back(&rows_[(static_cast<size_t>(step) * 24 + half * 12 + i) % rows_.size()]);
        losses.push_back(trainer.accumulate(batch).loss);
      }
      losses.push_back(trainer.update());
    }
    return losses;
  }
  static std::vector<float> all(const Model& model, const float* block) {
    return {block, block + model.layout().floats()};
  }
  static std::string error_of(Trainer& trainer, const std::filesystem::path& path) {
    try {
      trainer.load_state(path);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  std::filesystem::path path_;
  const std::vector<Example> rows_ = listops_rows(100);
};

TEST_F(StateTest, GoesOnBitForBit) {
  for (const char* mixer : {"kernel", "performer", "reformer"}) {
    ModelConfig config = small_config(mixer);
    config.ngrams = config.mixer == "kernel" ? 3 : 0;
    config.ngram_buckets = 300;
    const Model model(config);
    ASSERT_GT(model.config().dropout, 0);
    for (const double ema : {0.0, 0.9}) {
      Context one(1), three(3);
      Trainer whole(one, model, Parameters::initial(model, 7), setup(ema));
      const std::vector<double> losses = run(whole, 0, 12);
      for (Context* context : {&one, &three}) {
        Trainer first(*context, model, Parameters::initial(model, 7), setup(ema));
        std::vector<double> together = run(first, 0, 7);
        first.save_state(path_, "a note");
        // Other values, and already used: all of it must be replaced. On the other threads.
        Trainer second(context == &one ? three : one, model, Parameters::initial(model, 8),
                       setup(ema));
        run(second, 3, 5);
        EXPECT_EQ(second.load_state(path_), "a note");
        EXPECT_EQ(second.steps(), 7);
        const std::vector<double> rest = run(second, 7, 12);
        together.insert(together.end(), rest.begin(), rest.end());
        EXPECT_EQ(losses, together) << mixer;
        EXPECT_EQ(all(model, whole.values()), all(model, second.values())) << mixer;
        EXPECT_EQ(all(model, whole.averaged_values()), all(model, second.averaged_values()));
        EXPECT_EQ(whole.seen(), second.seen());
        // And the state itself is the same.
        second.save_state(path_);
        const StateFile theirs(path_);
        whole.save_state(path_);
        const StateFile ours(path_);
        EXPECT_EQ(ours.metadata, theirs.metadata);
        for (const auto& [name, numbers] : ours.tensors)
          EXPECT_EQ(numbers.data, theirs.tensors.at(name).data) << name;
      }
    }
  }
}

TEST_F(StateTest, MisfitsAreOneSentenceAndChangeNothing) {
  Context context(1);
  const Model model(small_config("kernel"));
  Trainer trainer(context, model, Parameters::initial(model, 7), setup(0.9));
  run(trainer, 0, 2);
  trainer.save_state(path_);
  const StateFile good(path_);
  run(trainer, 2, 3);
  const std::vector<float> values = all(model, trainer.values());
  const auto expect_refused = [&](const std::string& want) {
    const std::string message = error_of(trainer, path_);
    EXPECT_NE(message.find(want), std::string::npos) << want << ": " << message;
    EXPECT_EQ(message.rfind("[" + path_.string() + "]", 0), 0u) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_EQ(all(model, trainer.values()), values) << want;
    EXPECT_EQ(trainer.steps(), 3) << want;
  };
  const std::tuple<const char*, const char*, const char*> entries[] = {
      {"format", "linnet", "is not the state of a trainer"},
      {"format", nullptr, "has no entry \"format\""},
      {"steps", nullptr, "has no entry \"steps\""},
      {"steps", "", "steps must be a whole number"},
      {"steps", "-1", "steps must be a whole number"},
      {"steps", " 1", "steps must be a whole number"},
      {"steps", "1e3", "steps must be a whole number"},
      {"steps", "9223372036854775807", "steps must be a whole number"},
      {"seen", "99999999999999999999", "seen must be a whole number"},
      {"seen", "\n", "seen must be a whole number"},
      {"seed", "7", "was saved with seed 7, this run has 18446744073709551361"},
      {"lanes", "9", "was saved with lanes 9, this run has 4"},
      {"config", nullptr, "has no entry \"config\""},
      {"config", "{", "not valid JSON"},
      {"config", "{}", "another config"},
      {"note", nullptr, "has no entry \"note\""},
  };
  for (const auto& [name, value, want] : entries) {
    StateFile bad = good;
    bad.metadata.erase(name);
    if (value) bad.metadata[name] = value;
    bad.write(path_);
    expect_refused(want);
  }

  StateFile bad = good;
  bad.tensors.erase("v.head.1.bias");
  bad.write(path_);
  expect_refused("tensor \"v.head.1.bias\"");
  bad = good;
  bad.tensors["m.head.1.bias"].shape = {5, 2};
  bad.write(path_);
  expect_refused("tensor \"m.head.1.bias\" should be F32 [10], but is F32 [5, 2]");
  bad = good;
  bad.tensors["more"] = {{1}, {0}};
  bad.write(path_);
  expect_refused("tensors, the state of this run has");

  good.write(path_);
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) / 2);
  expect_refused("");
  std::ofstream(path_) << "short";
  expect_refused("too few for a safetensors file");
  std::filesystem::remove(path_);
  expect_refused("");
}

TEST_F(StateTest, AveragesMustBeInBothOrNeither) {
  Context context(1);
  const Model model(small_config("kernel"));
  Trainer with(context, model, Parameters::initial(model, 7), setup(0.9)),
      without(context, model, Parameters::initial(model, 7), setup(0));
  with.save_state(path_);
  EXPECT_NE(error_of(without, path_).find("tensors, the state of this run has"), std::string::npos);
  without.save_state(path_);
  EXPECT_NE(error_of(with, path_).find("\"ema."), std::string::npos) << error_of(with, path_);
}

}  // namespace
}  // namespace linnet
