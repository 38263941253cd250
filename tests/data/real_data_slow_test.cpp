// real_data_slow_test.cpp -- the files of LINNET_DATA: rows, classes, bytes and repeats as their
// README counts them.
#include <gtest/gtest.h>

#include "data/listops.h"
#include "data/split.h"
#include "data/summary.h"
#include "tests/data/reading.h"

namespace linnet {
namespace {

#define REAL_DATA(name, folder)               \
  const std::string name = real_data(folder); \
  if (name.empty()) GTEST_SKIP() << "no " folder ": LINNET_DATA is not set, or it is absent"

DataSummary summary_of(const std::string& path, const std::string& split) {
  ReadOptions options;
  options.split = split;
  OpenData data = open_data(path, options);
  return summarize(*data.reader, data.format->pixels, [](int64_t) {});
}

using Counts = std::vector<std::pair<std::string, int64_t>>;

TEST(RealData, Imdb) {
  REAL_DATA(folder, "imdb");
  EXPECT_EQ(splits_of(folder, {}), (std::vector<std::string>{"train", "test", "unlabelled"}));
  const DataSummary train = summary_of(folder, "train"), test = summary_of(folder, "test");
  EXPECT_EQ(train.records, 25'000);
  EXPECT_EQ(train.labels.sorted(), (Counts{{"neg", 12'500}, {"pos", 12'500}}));
  EXPECT_EQ(train.text.total(), 33'132'823);
  EXPECT_EQ(train.text.quantile(0.5), 979);
  EXPECT_EQ(train.text.smallest(), 52);
  EXPECT_EQ(train.text.largest(), 13'704);
  EXPECT_EQ(train.contents.size(), 24'904u);
  EXPECT_EQ(train.invalid_utf8.records, 0);
  EXPECT_EQ(test.text.total(), 32'350'685);
  EXPECT_EQ(test.contents.size(), 24'801u);
  EXPECT_EQ(shared_contents(train, test), 123);
}

TEST(RealData, ImdbValidationIsBalanced) {
  REAL_DATA(folder, "imdb");
  OpenData data = open_data(folder, {});
  int64_t pos = 0, all = 0;
  for (Record record; data.reader->next(record);) {
    if (!in_validation(record, 0.1)) continue;
    ++all;
    pos += record.labels[0] == "pos";
  }
  EXPECT_NEAR(static_cast<double>(all), 2500, 4 * 48);
  EXPECT_NEAR(static_cast<double>(pos), static_cast<double>(all) / 2, 4 * 25);
}

TEST(RealData, CitationPairs) {
  REAL_DATA(aan, "aan_subset");
  const DataSummary train = summary_of(aan, "train"), test = summary_of(aan, "test");
  EXPECT_EQ(train.records, 13'266);
  EXPECT_EQ(train.labels.sorted(), (Counts{{"0", 6633}, {"1", 6633}}));
  EXPECT_EQ(train.second.records(), 13'266);
  EXPECT_EQ(train.invalid_utf8.records, 0);
  EXPECT_EQ(summary_of(aan, "validation").records, 1894);
  EXPECT_EQ(test.records, 2048);
  EXPECT_EQ(shared_contents(train, test), 0);
}

TEST(RealData, PeerReadPairs) {
  REAL_DATA(pairs, "peerread_citations/pairs.eval.tsv.xz");
  const DataSummary eval = summary_of(pairs, "");
  EXPECT_EQ(eval.records, 4874);
  EXPECT_LE(eval.text.largest(), 16'384);
}

TEST(RealData, Cifar10Grey) {
  REAL_DATA(folder, "cifar10");
  const DataSummary test = summary_of(folder, "test");
  EXPECT_EQ(test.records, 10'000);
  const Counts counts = test.labels.sorted();
  ASSERT_EQ(counts.size(), 10u);
  EXPECT_EQ(counts[0], (std::pair<std::string, int64_t>("airplane", 1000)));
  EXPECT_EQ(counts[9], (std::pair<std::string, int64_t>("truck", 1000)));
  OpenData train = open_data(folder, {});
  double sum = 0;
  int64_t records = 0;
  std::string first;
  for (Record record; train.reader->next(record); ++records) {
    for (const char c : record.text) sum += static_cast<unsigned char>(c);
    if (records < 4) first += std::string(record.labels[0]) + " ";
  }
  EXPECT_EQ(records, 50'000);
  EXPECT_EQ(first, "frog truck truck deer ");
  EXPECT_NEAR(sum / (50'000.0 * 1024), 122.36, 0.01);
}

TEST(RealData, TinyShakespeare) {
  REAL_DATA(file, "lm/tinyshakespeare.txt.xz");
  OpenData data = open_data(file, {});
  size_t bytes = 0;
  for (Record record; data.reader->next(record);) bytes += record.text.size();
  EXPECT_EQ(bytes, 1'115'394u);
}

TEST(RealData, EveryListopsRowOfLraHasItsTarget) {
  REAL_DATA(file, "listops_ref/basic_sample.tsv.xz");
  OpenData data = open_data(file, {});
  int64_t rows = 0;
  for (Record record; data.reader->next(record); ++rows) {
    const std::vector<uint16_t> tokens = parse_listops(record.text);
    ASSERT_EQ(std::to_string(evaluate_listops(tokens)), record.labels[0]) << place_of(record);
  }
  EXPECT_EQ(rows, 4000);
}

}  // namespace
}  // namespace linnet
