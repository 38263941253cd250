// limits_test.cpp -- small files that would take much memory are refused, with their place; what is
// just within a limit is read.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "data/labels.h"
#include "data/rows.h"
#include "tests/data/reading.h"

namespace linnet {
namespace {

std::string repeated(std::string_view piece, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += piece;
  return all;
}

void expect_error(const std::string& name, const std::string& bytes, const std::string& message,
                  const ReadOptions& options = {}) {
  const std::string got =
      error_of([&] { read_rows(open_data(memory_input(name, bytes), options)); });
  EXPECT_NE(got.find(message), std::string::npos) << name << ": " << got;
}

TEST(Limits, FieldsOfARow) {
  const std::string most = repeated("x,", kMostFields - 1), tabs = repeated("x\t", kMostFields - 1);
  ReadOptions options;
  options.header = false;
  EXPECT_EQ(
      read_rows(open_data(memory_input("t.csv", most + "a\n" + most + "b\n"), options)).size(), 2u);
  const std::string what = "more than 65536 fields in a row";
  expect_error("t.csv", "a,b\n" + most + ",\n", "[t.csv:2:131072] " + what);
  expect_error("t.csv", repeated(",", 200'000), "[t.csv:1:65537] " + what);
  expect_error("t.csv", repeated("\"x\",", kMostFields) + "y\n", what);
  expect_error("t.tsv", tabs + "\ta\n", "[t.tsv:1:131072] " + what);
}

TEST(Limits, FieldsOfJson) {
  std::string line = "{\"text\": \"a\", \"label\": \"b\"";
  for (size_t i = 2; i < kMostFields; ++i) line += fmt::format(",\"{}\":1", i);
  EXPECT_EQ(read_rows(open_data(memory_input("t.jsonl", line + "}\n"), {})).size(), 1u);
  expect_error("t.jsonl", line + ",\"k\":1}\n", "[t.jsonl:1:1] more than 65536 fields");
  expect_error("t.jsonl", "{\"text\":\"a\",\"label\":\"b\"}\n" + line + ",\"k\":1}\n",
               "[t.jsonl:2:1] more than 65536 fields");
}

TEST(Limits, LabelsOfARecord) {
  const std::string what = "more than 1048576 labels";
  std::string list = "{\"text\":\"a\",\"label\":[" + repeated("1,", kMostLabels) + "1]}\n";
  expect_error("t.jsonl", list, "[t.jsonl:1:1] " + what);
  expect_error("t.txt", repeated("__label__a ", kMostLabels + 1) + "x\n", "[t.txt:1:1] " + what);
  expect_error("t.conll", repeated("a b\n", kMostLabels + 1),
               "[t.conll:1048577:1] a sentence of more than 1048576 words");
  ReadOptions options;
  options.label_separator = ";";
  options.delimiter = ",";
  options.label_column = "2";
  options.header = false;
  const std::string labels = repeated("1;", kMostLabels);
  expect_error("t.csv", "a," + labels + "1\n", "[t.csv:1:3] " + what, options);
  const auto rows = read_rows(open_data(memory_input("t.csv", "a," + labels + "\n"), options));
  EXPECT_EQ(rows.at(0).labels.size(), kMostLabels);
}

TEST(Limits, BytesOfTheNamesOfLabels) {
  LabelCounts counts;
  counts.add(std::string(2 << 20, 'x'));
  EXPECT_FALSE(counts.overflow());
  counts.add(std::string(2 << 20, 'x'));
  EXPECT_FALSE(counts.overflow());
  counts.add("y");
  EXPECT_TRUE(counts.overflow());
  EXPECT_NE(error_of([&] { LabelSet::from(counts); }).find("or 2097152 bytes of their names"),
            std::string::npos);
}

// The window never grows beyond the limit, wherever in it a record starts.
TEST(Limits, RecordsNearTheLimit) {
  const size_t limit = 1'000'000;
  ReadOptions options;
  options.record_limit = limit;
  for (const size_t size : {200'000, 400'000, 520'000, 700'000, 990'000}) {
    std::string all = "text,label\n";
    for (int i = 0; i < 7; ++i) all += std::string(size, static_cast<char>('a' + i)) + ",x\ny,z\n";
    for (const size_t piece : {size_t{3'000}, ~size_t{0}}) {
      const auto rows = read_rows(open_data(memory_input("t.csv", all, piece, limit), options));
      ASSERT_EQ(rows.size(), 14u) << size;
      for (size_t i = 0; i < 7; ++i)
        EXPECT_EQ(rows[2 * i].text, std::string(size, static_cast<char>('a' + i))) << size;
    }
  }
}

class NameLimits : public FolderTest {};

TEST_F(NameLimits, OfAnArchive) {
  const auto tar = [&](size_t files, size_t length) {
    std::vector<std::pair<std::string, std::string>> members;
    for (size_t i = 0; i < files; ++i)
      members.emplace_back(std::to_string(1'000'000 + i) + std::string(length - 7, 'x'), "");
    return pack("t.tar.lz4", ARCHIVE_FORMAT_TAR_GNUTAR, ARCHIVE_FILTER_LZ4, members);
  };
  EXPECT_NE(error_of([&] { read_rows(tar(2, 5000)); }).find("t.tar.lz4] has a name of 5000 bytes"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              read_rows(tar(35'000, 4000));
            }).find("t.tar.lz4] the names of its files take more than 128 MiB"),
            std::string::npos);
}

}  // namespace
}  // namespace linnet
