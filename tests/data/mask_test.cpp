// mask_test.cpp -- what is hidden: how much, in which spans, by what; the same for the same key;
// and the task that it serves.
#include "data/mask.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "data/feed.h"
#include "data/prepare.h"
#include "tests/data/reading.h"

namespace linnet {
namespace {

std::vector<int32_t> counting(int64_t T) {
  std::vector<int32_t> tokens;
  for (int64_t t = 0; t < T; ++t) tokens.push_back(static_cast<int32_t>(t % 200));
  return tokens;
}

struct Counts {
  double hidden = 0, masked = 0, kept = 0, spans = 0;
};

Counts count(const Masking& masking, int64_t T, int rounds) {
  Counts counts;
  const std::vector<int32_t> tokens = counting(T);
  Example example{.tokens = tokens};
  Random random(3);
  for (int i = 0; i < rounds; ++i) {
    mask_tokens(masking, random, example);
    bool before = false;
    for (size_t t = 0; t < tokens.size(); ++t) {
      const bool hidden = example.targets[t] >= 0;
      EXPECT_EQ(hidden ? example.targets[t] : example.tokens[t], tokens[t]);
      EXPECT_LE(example.tokens[t], masking.vocabulary);
      counts.hidden += hidden;
      counts.masked += hidden && example.tokens[t] == masking.vocabulary;
      counts.kept += hidden && example.tokens[t] == tokens[t];
      counts.spans += hidden && !before;
      before = hidden;
    }
  }
  return counts;
}

TEST(MaskTest, SharesAndSpans) {
  for (const double span : {1.0, 3.0, 8.0}) {
    constexpr double kShare = 0.15;
    const Counts c = count({.share = kShare, .span = span, .vocabulary = 1000}, 400, 500);
    EXPECT_NEAR(c.hidden / (400 * 500), kShare, 0.005);
    EXPECT_NEAR(c.masked / c.hidden, 0.8, 0.03) << span;
    EXPECT_NEAR(c.kept / c.hidden, 0.1, 0.03) << span;
    // Spans meet, and the last one is cut to the share.
    EXPECT_NEAR(c.hidden / c.spans, span, 0.35 * span);
  }
}

TEST(MaskTest, ShortTextsHaveATargetAndTheRightShare) {
  for (const int64_t T : {1, 2, 5}) {
    const Counts c = count({.vocabulary = 300}, T, 2000);
    EXPECT_NEAR(c.hidden / 2000, std::max(1.0, 0.15 * static_cast<double>(T)), 0.05);
  }
}

class MaskedTaskTest : public FolderTest {
 protected:
  void SetUp() override {
    FolderTest::SetUp();
    std::string rows = "a,b,label\n";
    for (int i = 0; i < 60; ++i)
      rows += "first text " + std::to_string(i) + ",the other one,x" + std::to_string(i % 2) + "\n";
    file_ = write("t.csv", rows);
    read_.text_column = "a";
    read_.second_column = "b";
    model_.task = "tokens";
    model_.pool = "none";
    model_.length = 8;
    model_.classes = 256;
    model_.vocab = 257;
  }
  ExampleMaker maker() const { return ExampleMaker(settings_, *tokenizer_, model_, true); }
  std::vector<Example> examples() const {
    ExampleStream stream(DataPart{.path = file_, .read = read_}, maker());
    std::vector<Example> result;
    while (stream.next(result)) {
    }
    return result;
  }
  // As they were before they were masked.
  static std::string text_of(Example example) {
    for (size_t t = 0; t < example.tokens.size(); ++t)
      if (example.targets[t] >= 0) example.tokens[t] = example.targets[t];
    return {example.tokens.begin(), example.tokens.end()};
  }

  std::string file_;
  ReadOptions read_;
  TaskSettings settings_{.task = "masked"};
  ModelConfig model_;
  std::unique_ptr<Tokenizer> tokenizer_ = parse_tokenizer("{\"kind\": \"bytes\"}", "test");
};

TEST_F(MaskedTaskTest, BothTextsInPieces) {
  const std::vector<Example> rows = examples();
  ASSERT_GT(rows.size(), 4u);
  EXPECT_EQ(text_of(rows[0]), "first te");
  EXPECT_EQ(text_of(rows[1]), "xt 0");
  EXPECT_EQ(text_of(rows[2]), "the othe");
  EXPECT_EQ(text_of(rows[3]), "r one");
  EXPECT_EQ(rows[4].record, 1);
  for (const Example& e : rows) {
    EXPECT_EQ(e.targets.size(), e.tokens.size());
    EXPECT_TRUE(std::ranges::any_of(e.targets, [](int32_t t) { return t >= 0; }));
  }
  const std::vector<Example> again = examples();
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i].tokens, again[i].tokens);
}

TEST_F(MaskedTaskTest, AFeedMasksAnewAndGoesOnAnywhere) {
  const auto open = [this] {
    return std::make_unique<ExampleStream>(DataPart{.path = file_, .read = read_}, maker());
  };
  const auto vary = [maker = maker()](Random& random, Example& e) { maker.vary(random, e); };
  for (const int64_t window : {1'000'000, 200}) {
    const FeedOptions options{.seed = 4, .batch = 16, .window = window};
    Feed feed(open, options, {}, vary);
    std::vector<FeedPosition> positions = {feed.position()};
    std::vector<std::vector<std::vector<int32_t>>> all;
    std::map<std::string, std::set<std::vector<int32_t>>> forms;
    for (int i = 0; i < 60; ++i) {
      all.emplace_back();
      for (const Example* e : feed.next()) {
        all.back().push_back(e->tokens);
        forms[text_of(*e)].insert(e->tokens);
      }
      positions.push_back(feed.position());
    }
    EXPECT_GT(forms["the othe"].size(), 20u);
    for (size_t at = 0; at + 2 < positions.size(); at += 7) {
      Feed other(open, options, positions[at], vary);
      for (size_t i = at; i < at + 2; ++i) {
        std::vector<std::vector<int32_t>> got;
        for (const Example* e : other.next()) got.push_back(e->tokens);
        EXPECT_EQ(got, all[i]) << window << " " << i;
      }
    }
  }
}

TEST_F(MaskedTaskTest, WrongSettingsAreNamed) {
  model_.vocab = 256;
  EXPECT_EQ(error_of([&] { maker(); }),
            "[tokenizer] has 257 ids with the mask, the model's vocabulary only 256");
  settings_.mask_share = 0;
  EXPECT_TRUE(error_of([&] { maker(); }).starts_with("[data.mask_share]"));
  settings_.mask_share = 0.2;
  settings_.mask_span = 0.5;
  EXPECT_TRUE(error_of([&] { maker(); }).starts_with("[data.mask_span]"));
}

// Texts without labels beside those with: read after them, but for what validation keeps.
TEST_F(MaskedTaskTest, UnlabelledTextsFollow) {
  std::string more;
  for (int i = 0; i < 50; ++i) more += "{\"text\": \"more " + std::to_string(i) + "\"}\n";
  more += "{\"text\": \"first text 3\"}\n";
  DataChoice choice{.data = file_, .tokenizer = "bytes", .read = read_};
  choice.unlabelled = {write("m.jsonl", more), write("m.txt", "plain text\nof two lines\n")};
  const auto quiet = [](const std::string&, double) {};
  const PreparedTask p = prepare(choice, 1, quiet);
  EXPECT_EQ(p.unlabelled.size(), 2u);
  EXPECT_GT(p.unlabelled_records, 38);
  DataPart all = p.parts.train;
  all.more = p.unlabelled;
  PartReader reader(all);
  int64_t records = 0;
  std::string last;
  for (Record record; reader.next(record); ++records) {
    if (record.second.empty()) last += std::string(record.text) + "|";
    EXPECT_LE(reader.done(), 1.0);
  }
  EXPECT_EQ(records, p.records + p.unlabelled_records);
  EXPECT_NE(last.find("more "), std::string::npos);
  choice.unlabelled = {write("i.bin", std::string(1025, '\1'))};
  EXPECT_NE(error_of([&] { prepare(choice, 1, quiet); }).find("has images"), std::string::npos);
}

}  // namespace
}  // namespace linnet
