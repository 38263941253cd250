// feed_test.cpp -- batches: all examples once an epoch, the order from the seed alone, resumed
// anywhere, streamed or whole.
#include "data/feed.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "core/error.h"

namespace linnet {
namespace {

// The labels are "even" and "odd", the text of row i is i letters.
class FeedTest : public testing::Test {
 protected:
  FeedTest() {
    model_.vocab = 256;
    model_.classes = 2;
    model_.length = 64;
    settings_.labels = {"even", "odd"};
    std::ofstream file(path_);
    file << "text,label\n";
    for (int i = 1; i <= kRows; ++i)
      file << i << std::string(static_cast<size_t>(i % 40), 'x') << "," << (i % 2 ? "odd" : "even")
           << "\n";
  }
  ~FeedTest() override { std::filesystem::remove(path_); }

  Feed::Open open() const {
    return [this] {
      return std::make_unique<ExampleStream>(DataPart{.path = path_, .read = {}},
                                             ExampleMaker(settings_, *tokenizer_, model_, true));
    };
  }
  // The records of `count` batches.
  static std::vector<std::vector<int64_t>> records(Feed& feed, int count) {
    std::vector<std::vector<int64_t>> result(static_cast<size_t>(count));
    for (auto& batch : result)
      for (const Example* e : feed.next()) batch.push_back(e->record);
    return result;
  }

  static constexpr int kRows = 103;
  ModelConfig model_;
  TaskSettings settings_;
  std::string path_ = testing::TempDir() + "feed_test_" +
                      testing::UnitTest::GetInstance()->current_test_info()->name() + ".csv";
  std::unique_ptr<Tokenizer> tokenizer_ = parse_tokenizer("{\"kind\": \"bytes\"}", "test");
};

TEST_F(FeedTest, EveryExampleOnceAnEpoch) {
  for (const int64_t window : {1'000'000, 300, 1}) {
    for (const int64_t group : {1, 3}) {
      for (const int64_t budget : {0, 100}) {
        Feed feed(open(), {.batch = 8, .batch_tokens = budget, .group = group, .window = window});
        std::map<int64_t, int> seen;
        while (feed.position().epoch < 2) {
          int64_t tokens = 0;
          const auto batch = feed.next();
          if (feed.position().epoch == 2) break;
          for (const Example* e : batch) {
            ++seen[e->record];
            tokens += tokens_of(*e);
          }
          EXPECT_TRUE(budget > 0 || batch.size() <= 8);
          EXPECT_TRUE(budget == 0 || batch.size() == 1 || tokens <= budget);
        }
        EXPECT_EQ(feed.whole(), window == 1'000'000);
        EXPECT_EQ(seen.size(), static_cast<size_t>(kRows));
        for (const auto& [record, count] : seen) EXPECT_EQ(count, 2) << record;
      }
    }
  }
}

TEST_F(FeedTest, TheSeedAloneDecides) {
  const FeedOptions options{.seed = 5, .batch = 8, .group = 2, .window = 500};
  Feed a(open(), options), b(open(), options);
  FeedOptions other = options;
  other.seed = 6;
  Feed c(open(), other);
  const auto first = records(a, 40);
  EXPECT_EQ(first, records(b, 40));
  EXPECT_NE(first, records(c, 40));
}

TEST_F(FeedTest, EpochsDiffer) {
  Feed feed(open(), {.batch = kRows});
  EXPECT_NE(records(feed, 1), records(feed, 1));
}

TEST_F(FeedTest, GoesOnFromAnyPosition) {
  for (const int64_t window : {1'000'000, 500}) {
    const FeedOptions options{.seed = 2, .batch = 8, .group = 2, .window = window};
    Feed feed(open(), options);
    std::vector<FeedPosition> positions = {feed.position()};
    std::vector<std::vector<int64_t>> all;
    for (int i = 0; i < 45; ++i) {
      all.push_back(records(feed, 1)[0]);
      positions.push_back(feed.position());
    }
    for (size_t at = 0; at < positions.size() - 3; at += 3) {
      Feed again(open(), options, positions[at]);
      for (size_t i = at; i < at + 3; ++i) EXPECT_EQ(records(again, 1)[0], all[i]) << window << at;
      EXPECT_EQ(again.position(), positions[at + 3]);
    }
  }
}

TEST_F(FeedTest, APlaceThatTheDataDoesNotHaveIsRefused) {
  const FeedOptions whole{.batch = 8}, streamed{.batch = 8, .window = 500};
  Feed feed(open(), streamed);
  while (feed.position().record == 0) feed.next();
  const FeedPosition good = feed.position();
  const auto first = [&](const FeedOptions& options, const FeedPosition& start) {
    Feed again(open(), options, start);
    again.next();
  };
  first(streamed, good);
  std::vector<FeedPosition> wrong(7, good);
  wrong[0].epoch = -1;
  wrong[1].record = -good.record;
  wrong[2].batch = -1;
  wrong[3].examples = -1;
  wrong[4].record = kRows + 1;
  wrong[5].batch = good.examples;
  wrong[6].examples += 1;
  for (const FeedPosition& start : wrong) EXPECT_THROW(first(streamed, start), Error);
  // Data that is whole in memory begins at its first record; without the examples it cannot be
  // told.
  first(whole, {.batch = 13});
  EXPECT_THROW(first(whole, {.batch = 14}), Error);
  EXPECT_THROW(first(whole, {.record = 3, .batch = 1, .examples = kRows}), Error);
  EXPECT_THROW(first(whole, {.record = int64_t{1} << 40, .batch = 1}), Error);
}

TEST_F(FeedTest, ACacheChangesNothingButTheReading) {
  const FeedOptions plain{.seed = 2, .batch = 8, .window = 500};
  FeedOptions cached = plain;
  cached.cache = testing::TempDir();
  int opened = 0;
  const Feed::Open count = [&] {
    ++opened;
    return open()();
  };
  const int batches = 60;  // more than three epochs
  std::vector<std::vector<int64_t>> expected;
  FeedPosition middle;
  {
    Feed feed(open(), plain);
    expected = records(feed, batches);
    EXPECT_GE(feed.position().epoch, 3);
  }
  {
    Feed feed(count, cached);
    EXPECT_EQ(records(feed, 25), std::vector(expected.begin(), expected.begin() + 25));
    middle = feed.position();
    EXPECT_EQ(records(feed, batches - 25), std::vector(expected.begin() + 25, expected.end()));
  }
  EXPECT_EQ(opened, 1);
  // Gone on with in the middle of an epoch: what was before it is read once, at the next.
  EXPECT_GT(middle.record, 0);
  Feed feed(count, cached, middle);
  EXPECT_EQ(records(feed, batches - 25), std::vector(expected.begin() + 25, expected.end()));
  EXPECT_LE(opened, 3);
}

TEST_F(FeedTest, GroupsHaveLikeLengths) {
  const auto spread = [&](int64_t group) {
    Feed feed(open(), {.batch = 8, .group = group});
    int64_t sum = 0;
    for (int i = 0; i < 12; ++i) {
      int64_t least = 1000, most = 0;
      for (const Example* e : feed.next()) {
        least = std::min(least, tokens_of(*e));
        most = std::max(most, tokens_of(*e));
      }
      sum += most - least;
    }
    return sum;
  };
  EXPECT_LT(spread(12), spread(1) / 3);
}

TEST_F(FeedTest, AFaultInTheDataReachesTheCaller) {
  std::ofstream(path_, std::ios::app) << "unknown,third\n";
  Feed feed(open(), {.batch = 8});
  try {
    feed.next();
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(":105:9] label \"third\""), std::string::npos)
        << error.what();
  }
}

TEST_F(FeedTest, AClosedFeedLeavesNothingRunning) {
  Feed feed(open(), {.batch = 8, .window = 1});  // the loader waits, and is let go
  feed.next();
}

TEST_F(FeedTest, WrongOptionsAreNamed) {
  EXPECT_THROW(Feed(open(), {.batch = 0}), Error);
  EXPECT_THROW(Feed(open(), {.group = 0}), Error);
  EXPECT_THROW(Feed(open(), {.window = 0}), Error);
}

}  // namespace
}  // namespace linnet
