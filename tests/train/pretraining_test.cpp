// pretraining_test.cpp -- both kinds learn without labels, on every task; training begins with
// exactly their encoder; stops and threads change no bit; wrong uses are refused.
#include "train/pretraining.h"

#include <gtest/gtest.h>

#include "core/file.h"
#include "models/model_folder.h"
#include "tests/data/reading.h"
#include "train/run.h"

namespace linnet {
namespace {

class PretrainingTest : public FolderTest {
 protected:
  void SetUp() override {
    FolderTest::SetUp();
    std::string rows = "text,label\n";
    constexpr const char* kWords[] = {"alpha", "beta", "gamma", "delta"};
    for (int i = 0; i < 200; ++i) {
      for (int w = 0; w < 6; ++w) rows += std::string(w ? " " : "") + kWords[(i * 7 + w) % 4];
      rows += " " + std::to_string(i) + (i % 2 ? ",odd\n" : ",even\n");
    }
    prepared_ = prepare({.data = write("t.csv", rows), .tokenizer = "bytes", .read = {}}, 1,
                        [](const std::string&, double) {});
    model_.width = 16;
    model_.heads = 2;
    model_.blocks = 1;
    model_.hidden = 16;
    model_.head_units = 8;
    model_.pool = "mean";
    model_.conv = 3;
    model_.ngrams = 2;
    model_.ngram_buckets = 64;
    fit_model(prepared_, false, model_);
    settings_.steps = 60;
    settings_.lr = 0.02;
    settings_.warmup = 5;
    settings_.batch = 8;
    settings_.evaluations = 2;
    settings_.checkpoint_every = 7;
  }
  Pretraining derive(const std::string& kind, double share = 0.5) {
    return derive_pretraining({.pretrain = kind, .pretrain_share = share}, prepared_, model_,
                              settings_);
  }
  // A run to its end, but given up and gone on with after every `stop` steps.
  std::filesystem::path train(const Pretraining& first, const std::string& name, int threads = 1,
                              int64_t stop = 1000) {
    const std::filesystem::path out = folder_ / name;
    std::filesystem::create_directories(out);
    Context context(threads);
    for (bool finished = false; !finished;) {
      linnet::Run run(context, out, first.model, first.task, first.settings);
      double loss = 0;
      for (int64_t i = 0; i < stop && !run.finished(); ++i) {
        loss = run.advance().loss;
        if (first_loss_ == 0) first_loss_ = loss;
      }
      last_loss_ = loss;
      finished = run.finished();
    }
    return out;
  }
  static std::string bytes(const std::filesystem::path& file) { return read_file(file, 1 << 26); }

  PreparedTask prepared_;
  ModelConfig model_;
  RunSettings settings_;
  double first_loss_ = 0, last_loss_ = 0;
};

TEST_F(PretrainingTest, LearnsAndHandsItsEncoderOn) {
  for (const std::string kind : {"masked", "causal"}) {
    settings_.steps = 120;
    first_loss_ = 0;
    model_.vocab = 256;
    const Pretraining first = derive(kind);
    EXPECT_EQ(first.settings.steps, 60);
    EXPECT_EQ(settings_.steps, 60);
    EXPECT_EQ(model_.vocab, kind == "masked" ? 257 : 256);
    EXPECT_EQ(first.model.vocab, model_.vocab);
    EXPECT_EQ(first.model.classes, 256);
    EXPECT_EQ(first.model.causal, kind == "causal");
    const std::filesystem::path out = train(first, kind);
    EXPECT_LT(last_loss_, 0.7 * first_loss_) << kind;

    const LoadedModel learnt = load_model(out);
    const Model from(learnt.config), to(model_);
    const Block values = initial_values(to, 1, out), drawn = Parameters::initial(to, 1);
    int equal = 0;
    for (const ParamSpec& spec : to.layout().specs()) {
      const ParamSpec* theirs = nullptr;
      for (const ParamSpec& other : from.layout().specs())
        if (other.name == spec.name) theirs = &other;
      const bool head = spec.name.starts_with("head.");
      ASSERT_TRUE(head || theirs) << spec.name;
      const float* want = head ? drawn.data() + spec.offset : learnt.values.data() + theirs->offset;
      for (int64_t i = 0; i < spec.size(); ++i)
        ASSERT_EQ(values.data()[spec.offset + i], want[i]) << spec.name;
      equal += !head;
    }
    EXPECT_GT(equal, 10);
  }
}

TEST_F(PretrainingTest, StopsAndThreadsChangeNoBit) {
  for (const std::string kind : {"masked", "causal"}) {
    settings_.steps = 50;
    settings_.sampled = kind == "causal" ? 20 : 0;
    const Pretraining first = derive(kind);
    const std::filesystem::path whole = train(first, kind + "whole");
    EXPECT_EQ(bytes(train(first, kind + "stopped", 1, 9) / "model.safetensors"),
              bytes(whole / "model.safetensors"));
    EXPECT_EQ(bytes(train(first, kind + "threads", 3) / "model.safetensors"),
              bytes(whole / "model.safetensors"));
  }
}

TEST_F(PretrainingTest, ShareOfTheEnd) {
  settings_.steps = 0;
  settings_.minutes = 10;
  settings_.epochs = 4;
  settings_.label_smoothing = 0.1;
  const Pretraining first = derive("masked", 0.75);
  EXPECT_DOUBLE_EQ(first.settings.minutes, 7.5);
  EXPECT_DOUBLE_EQ(settings_.minutes, 2.5);
  EXPECT_DOUBLE_EQ(first.settings.epochs, 3);
  EXPECT_DOUBLE_EQ(settings_.epochs, 1);
  EXPECT_EQ(first.settings.label_smoothing, 0);
}

TEST_F(PretrainingTest, WrongUsesAreRefused) {
  model_.mixer = "reformer";
  EXPECT_NE(error_of([&] { derive("causal"); }).find("[train.pretrain] mixer \"reformer\" looks"),
            std::string::npos);
  model_.mixer = "kernel";
  model_.causal = true;
  EXPECT_NE(error_of([&] { derive("masked"); }).find("from both sides"), std::string::npos);
  model_.causal = false;
  settings_.steps = 1;
  EXPECT_TRUE(error_of([&] { derive("masked"); }).starts_with("[train.steps]"));
  prepared_.task = &find_task("lm");
  EXPECT_NE(error_of([&] { derive("causal"); }).find("learns without labels already"),
            std::string::npos);
  const auto fault = [](const nlohmann::json& json) {
    return error_of([&] { pretrain_settings_from_json(json); });
  };
  EXPECT_EQ(fault({{"pretrain", "masked"}}), "no Error");
  EXPECT_TRUE(fault({{"pretrain", "magic"}}).starts_with("[train.pretrain]"));
  EXPECT_TRUE(fault({{"pretrain_share", 1}}).starts_with("[train.pretrain_share]"));
  EXPECT_TRUE(fault({{"mask_share", 0}}).starts_with("[train.mask_share]"));
  EXPECT_TRUE(fault({{"mask_span", 0.5}}).starts_with("[train.mask_span]"));
}

TEST_F(PretrainingTest, AnotherShapeIsNamed) {
  const std::filesystem::path out = train(derive("causal"), "small");
  ModelConfig other = model_;
  other.vocab += 3;  // rows more are those that were drawn
  const Model longer(other);
  const Block values = initial_values(longer, 1, out), drawn = Parameters::initial(longer, 1);
  const int64_t known = model_.vocab * model_.width;
  EXPECT_EQ(values.data()[known], drawn.data()[known]);
  const int64_t seen = 'a' * model_.width;
  EXPECT_NE(values.data()[seen], drawn.data()[seen]);
  other.width = 32;
  EXPECT_NE(error_of([&] {
              initial_values(Model(other), 1, out);
            }).find("tensor embed.weight has the shape [256, 16], this model's [259, 32]"),
            std::string::npos);
  other = model_;
  other.hidden = 20;
  EXPECT_NE(error_of([&] { initial_values(Model(other), 1, out); }).find("ffn.in.weight"),
            std::string::npos);
}

}  // namespace
}  // namespace linnet
