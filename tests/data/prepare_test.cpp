// prepare_test.cpp -- the hash of what a run learns from and chooses by: texts, labels, order.
#include "data/prepare.h"

#include <gtest/gtest.h>

#include <set>

#include "core/error.h"
#include "data/split.h"
#include "tests/data/reading.h"

namespace linnet {
namespace {

Record record(std::string_view text, std::string_view second,
              std::vector<std::string_view> labels) {
  Record result;
  result.text = text;
  result.second = second;
  result.labels = std::move(labels);
  return result;
}

TEST(HashRecords, NothingMovesUnseen) {
  using Records = std::vector<Record>;
  const Record a = record("ab", "c", {"x"}), b = record("ab", "c", {"y"});
  std::set<uint64_t> seen;
  const std::vector<Records> all = {{},
                                    {a},
                                    {b},
                                    {a, b},
                                    {b, a},
                                    {a, a},
                                    {record("a", "bc", {"x"})},
                                    {record("abc", "", {"x"})},
                                    {record("", "abc", {"x"})},
                                    {record("ab", "", {"c", "x"})},
                                    {record("ab", "c", {"x", "y"})},
                                    {record("ab", "c", {"xy"})},
                                    {record("ab", "c", {})}};
  for (const Records& records : all) {
    uint64_t hash = 0;
    for (const Record& one : records) hash = hash_records(hash, one, true);
    EXPECT_TRUE(seen.insert(hash).second) << seen.size();
  }
  EXPECT_EQ(hash_records(0, a, false), hash_records(0, b, false));
}

using PrepareTest = FolderTest;

TEST_F(PrepareTest, TheContentIsOfTrainAndValidation) {
  const std::string head = "text,label\n", one = "a,0\n", two = "b,1\n", three = "c,0\n";
  const auto content = [&](const std::string& train, const std::string& validation) {
    write("train.csv", head + train);
    write("validation.csv", head + validation);
    return prepare({.data = path("train.csv"),
                    .validation = path("validation.csv"),
                    .tokenizer = "bytes"},
                   1, [](const std::string&, double) {})
        .content;
  };
  const std::set<uint64_t> all = {
      content(one + two, three),       content(two + one, three),
      content(one + two, one),         content(one + two + three, three),
      content("a,1\nb,0\n", three),    content(one + two, "c,1\n"),
      content(one + two, three + one), content(one + two, one + three)};
  EXPECT_EQ(all.size(), 8u);
  EXPECT_TRUE(all.contains(content(one + two, three)));
}

TEST_F(PrepareTest, ARecordOfValidationWithoutALabelIsNamed) {
  write("train.csv", "text,label\na,0\nb,1\n");
  write("validation.csv", "text,label\na,0\nb,\n");
  try {
    prepare({.data = path("train.csv"), .validation = path("validation.csv"), .tokenizer = "bytes"},
            1, [](const std::string&, double) {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("validation.csv:3"), std::string::npos);
  }
}

}  // namespace
}  // namespace linnet
