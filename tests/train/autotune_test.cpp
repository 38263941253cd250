// autotune_test.cpp -- a search by rounds: its space, its record, stops, failures, and that test
// data is not read.
#include "train/autotune.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "core/file.h"
#include "data/task.h"
#include "tests/data/reading.h"

namespace linnet {
namespace {

using Json = nlohmann::ordered_json;

class AutotuneTest : public FolderTest {
 protected:
  void SetUp() override {
    FolderTest::SetUp();
    std::string csv = "text,label\n";
    for (int i = 0; i < 200; ++i)
      csv += std::string(i % 2 ? "good" : "bad") + " text " + std::to_string(i) + "," +
             (i % 2 ? "pos" : "neg") + "\n";
    write("train.csv", csv);
    DataChoice choice{.data = path("train.csv"), .test = path("nowhere.csv")};
    choice.tokenizer = "bytes";
    // There is no such test data: a look at it would be an Error.
    write("nowhere.csv", "text,label\nanother text,pos\n");
    prepared_ = prepare(choice, 1, [](const std::string&, double) {});
    std::filesystem::remove(path("nowhere.csv"));
    config_.width = config_.hidden = config_.head_units = 8;
    config_.blocks = 1;
    fit_model(prepared_, false, config_);
    settings_.minutes = 1;
    settings_.lr = 0.02;
    settings_.warmup = 2;
    watch_.stop = [this] { return stop_after_ >= 0 && steps_++ >= stop_after_; };
    watch_.look = [this](const TuningLook& look) { looks_.push_back(look); };
    watch_.ranking = [this](const std::vector<TuningLook>& looks) { rankings_.push_back(looks); };
  }
  std::vector<Candidate> candidates(size_t most) const {
    return tuning_candidates(
        *prepared_.task, config_, settings_,
        [](const std::string& name) { return name == "ngrams"; }, most);
  }
  std::optional<size_t> tune(const std::vector<Candidate>& some, double minutes = 0.02) {
    looks_.clear();
    rankings_.clear();
    steps_ = 0;
    return autotune(context_, path("run"), minutes, prepared_, some, watch_);
  }
  std::vector<Json> record() const {
    std::vector<Json> lines;
    std::ifstream file(path("run/autotune.jsonl"));
    for (std::string line; std::getline(file, line);) lines.push_back(Json::parse(line));
    return lines;
  }

  Context context_{2};
  PreparedTask prepared_{};
  ModelConfig config_;
  RunSettings settings_;
  TuningWatch watch_;
  std::vector<TuningLook> looks_;
  std::vector<std::vector<TuningLook>> rankings_;
  int64_t stop_after_ = -1, steps_ = 0;
};

TEST_F(AutotuneTest, SpaceKeepsWhatIsGiven) {
  const std::vector<Candidate> all = candidates(8);
  ASSERT_EQ(all.size(), 8u);
  EXPECT_TRUE(all[0].changes.empty());
  EXPECT_EQ(config_to_json(all[0].config), config_to_json(config_));
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_FALSE(all[i].changes.contains("ngrams"));
    EXPECT_EQ(all[i].changes.contains("width"), all[i].config.width != 8);
    EXPECT_EQ(all[i].config.hidden, all[i].config.width);
    EXPECT_EQ(all[i].settings.lr, all[i].changes.value("lr", 0.02));
    EXPECT_EQ(all[i].config.dropout, all[i].changes.value("dropout", 0.1));
    for (size_t j = 0; j < i; ++j) EXPECT_NE(all[i].changes, all[j].changes);
    EXPECT_EQ(candidates(8)[i].changes, all[i].changes);  // the same draws every time
  }
  const auto only = [&](const std::string& free) {
    return tuning_candidates(*prepared_.task, config_, settings_,
                             [&](const std::string& name) { return free.find(name) == free.npos; });
  };
  EXPECT_EQ(only("weight_decay").size(), 2u);  // three values; a power of two
  EXPECT_EQ(only("dropout").size(), 4u);
  EXPECT_THROW(only("nothing"), Error);
  config_.heads = 8;  // half the width cannot have them
  EXPECT_EQ(only("width hidden head_units").size(), 2u);
  EXPECT_EQ(only("width hidden head_units")[1].config.width, 16);
}

TEST_F(AutotuneTest, HalvesUntilOneIsLeft) {
  const std::optional<size_t> chosen = tune(candidates(4));
  ASSERT_TRUE(chosen.has_value());
  ASSERT_EQ(looks_.size(), 6u);
  ASSERT_EQ(rankings_.size(), 2u);
  EXPECT_EQ(rankings_[0].size(), 4u);
  EXPECT_EQ(rankings_[1].size(), 2u);
  EXPECT_EQ(rankings_[1][0].candidate, *chosen);
  EXPECT_GE(rankings_[0][0].score, rankings_[0][3].score);
  for (const TuningLook& look : rankings_[1]) {
    EXPECT_TRUE(look.candidate == rankings_[0][0].candidate ||
                look.candidate == rankings_[0][1].candidate);
  }
  const std::vector<Json> lines = record();
  ASSERT_EQ(lines.size(), 8u);
  EXPECT_EQ(lines[0]["asked"]["candidates"].size(), 4u);
  EXPECT_EQ(lines[7]["chosen"], *chosen);
  EXPECT_FALSE(std::filesystem::exists(path("run/autotune/00/checkpoint.safetensors")));
  EXPECT_TRUE(std::filesystem::exists(path("run/autotune/00/metrics.jsonl")));
  // Called again it knows.
  EXPECT_EQ(tune(candidates(4)), chosen);
  EXPECT_TRUE(looks_.empty());
  EXPECT_THROW(tune(candidates(2)), Error);
  EXPECT_THROW(tune(candidates(4), 0.03), Error);
}

TEST_F(AutotuneTest, RanksByTheFigureThatIsNamed) {
  settings_.choose_by = "loss";
  ASSERT_TRUE(tune(candidates(4)).has_value());
  EXPECT_EQ(record()[0]["asked"]["metric"], "loss");
  EXPECT_LE(rankings_[0][0].loss, rankings_[0][3].loss);
  for (const TuningLook& look : looks_) EXPECT_EQ(look.score, look.loss);
}

TEST_F(AutotuneTest, SearchOfAnEarlierVersionGoesOn) {
  const std::optional<size_t> chosen = tune(candidates(2));
  std::vector<Json> lines = record();
  ASSERT_EQ(lines[0]["asked"]["train"].erase("choose_by"), 1u);
  std::string text;
  for (const Json& line : lines) text += line.dump() + "\n";
  write("run/autotune.jsonl", text);
  EXPECT_EQ(tune(candidates(2)), chosen);
  EXPECT_TRUE(looks_.empty());
  settings_.choose_by = "loss";
  EXPECT_THROW(tune(candidates(2)), Error);
}

TEST_F(AutotuneTest, StoppedItGoesOn) {
  stop_after_ = 1;
  std::optional<size_t> chosen;
  std::vector<std::pair<int, size_t>> seen;
  int calls = 0;
  // Each call takes a step, so it ends.
  for (; !chosen && calls < 10000; ++calls) {
    chosen = tune(candidates(2), 0.005);
    for (const TuningLook& look : looks_) seen.emplace_back(look.round, look.candidate);
  }
  ASSERT_TRUE(chosen.has_value());
  EXPECT_GT(calls, 1);
  EXPECT_EQ(seen, (std::vector<std::pair<int, size_t>>{{1, 0}, {1, 1}}));  // nothing is done twice
}

TEST_F(AutotuneTest, WhatFailsIsLast) {
  std::vector<Candidate> two = candidates(2);
  two[0].settings.lr = 1e9;
  two[0].settings.clip = 0;
  EXPECT_EQ(tune(two), 1u);
  EXPECT_TRUE(std::isnan(rankings_[0][1].score));
  EXPECT_FALSE(rankings_[0][1].error.empty());
  EXPECT_TRUE(record()[1].contains("error"));
  EXPECT_EQ(tune(two), 1u);  // called again it knows
  EXPECT_TRUE(looks_.empty());
  // The same where models are chosen by loss.
  std::filesystem::remove_all(path("run"));
  Task by_loss = *prepared_.task;
  by_loss.metric = "loss";
  prepared_.task = &by_loss;
  EXPECT_EQ(tune(two), 1u);
  EXPECT_EQ(tune(two), 1u);
  EXPECT_TRUE(looks_.empty());
}

TEST_F(AutotuneTest, BrokenRecordIsRefused) {
  ASSERT_TRUE(tune(candidates(2), 0.002).has_value());
  std::string text = read_file(path("run/autotune.jsonl"), 1 << 20);
  for (const char* line : {"{\"round\": \"x\"}\n", "[]\n", "{\"chosen\": 9}\n", "{\n"}) {
    write("run/autotune.jsonl", text + line);
    EXPECT_THROW(tune(candidates(2), 0.002), Error) << line;
  }
}

}  // namespace
}  // namespace linnet
