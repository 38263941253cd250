// summary_test.cpp -- classes, validation split, repeats, lengths and faults of encoding.
#include "data/summary.h"

#include <gtest/gtest.h>

#include "core/utf8.h"
#include "data/split.h"
#include "tests/data/reading.h"

namespace linnet {
namespace {

using Names = std::vector<std::string>;

LabelSet labels_of(const Names& labels) {
  LabelCounts counts;
  for (const std::string& label : labels) counts.add(label);
  return LabelSet::from(counts);
}

TEST(Labels, NumbersByValueWordsByBytes) {
  EXPECT_EQ(labels_of({"10", "9", "-1", "2.5", "10"}).names(), (Names{"-1", "2.5", "9", "10"}));
  EXPECT_EQ(labels_of({"pos", "neg", "Neutral"}).names(), (Names{"Neutral", "neg", "pos"}));
  EXPECT_EQ(labels_of({"10", "9", "x"}).names(), (Names{"10", "9", "x"}));
  EXPECT_EQ(labels_of({"1", "1.0", "01"}).names(), (Names{"01", "1", "1.0"}));
  EXPECT_THROW(LabelSet(Names{"a", "a"}), Error);
}

TEST(Labels, UnknownLabelsOfTestHaveTheirPlace) {
  const LabelSet set = labels_of({"a", "b"});
  EXPECT_EQ(set.find("b"), 1);
  EXPECT_EQ(set.find("c"), -1);
  OpenData data = open_data(memory_input("test.csv", "text,label\nx,b\ny,c\nz,\n"), {});
  Record record;
  ASSERT_TRUE(data.reader->next(record));
  EXPECT_EQ(set.classes_of(record), std::vector<int>{1});
  ASSERT_TRUE(data.reader->next(record));
  EXPECT_EQ(error_of([&] { set.classes_of(record); }),
            "[test.csv:3:3] label \"c\" is not among the 2 classes of the training data: a, b");
  ASSERT_TRUE(data.reader->next(record));
  EXPECT_EQ(error_of([&] { set.classes_of(record); }), "[test.csv:4:3] has no label");
}

TEST(Labels, SeveralAreSortedAndEachOnce) {
  Record record;
  record.labels = {"c", "a", "c"};
  EXPECT_EQ(labels_of({"a", "b", "c"}).classes_of(record), (std::vector<int>{0, 2}));
}

Record text_record(std::string_view text, std::string_view second = {}) {
  Record record;
  record.text = text;
  record.second = second;
  return record;
}

TEST(Split, DependsOnTheContentAlone) {
  // Written down: a change would move records between the sides of everybody's runs.
  EXPECT_EQ(hash_bytes(""), hash_bytes("", 0));
  EXPECT_EQ(hash_content(text_record("linnet")), 3064793677277604845u);
  EXPECT_EQ(hash_content(text_record("a longer text", "and another")), 7208397631239826387u);
  EXPECT_NE(hash_content(text_record("ab", "c")), hash_content(text_record("a", "bc")));
  EXPECT_NE(hash_bytes("a"), hash_bytes(std::string_view("a\0", 2)));
  Record labelled = text_record("linnet");
  labelled.labels = {"x"};
  EXPECT_EQ(hash_content(labelled), hash_content(text_record("linnet")));
}

TEST(Split, HasTheShareAndGrowsWithIt) {
  int tenth = 0, half = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = "review " + std::to_string(i);
    const Record record = text_record(text);
    const bool in_tenth = in_validation(record, 0.1), in_half = in_validation(record, 0.5);
    EXPECT_TRUE(!in_tenth || in_half);
    EXPECT_FALSE(in_validation(record, 0));
    EXPECT_TRUE(in_validation(record, 1));
    tenth += in_tenth;
    half += in_half;
  }
  EXPECT_NEAR(tenth, 2000, 4 * 42);
  EXPECT_NEAR(half, 10'000, 4 * 71);
}

TEST(Utf8, WellFormedAndNot) {
  const auto npos = std::string_view::npos;
  for (const char* good :
       {"", "plain ascii, more than eight bytes", "gr\xc3\xbc\xc3\x9f",
        "\xe2\x82\xac\xf0\x9f\x90\xa6", "\xef\xbf\xbf\xf4\x8f\xbf\xbf", "\xed\x9f\xbf\xee\x80\x80"})
    EXPECT_EQ(find_invalid_utf8(good), npos) << good;
  const std::vector<std::pair<std::string, size_t>> bad = {{"\x80", 0},
                                                           {"abcdefgh\xff", 8},
                                                           {"ab\xc3", 2},
                                                           {"\xc0\xaf", 0},
                                                           {"\xe0\x80\xaf", 0},
                                                           {"x\xed\xa0\x80", 1},
                                                           {"\xf4\x90\x80\x80", 0},
                                                           {"\xf0\x8f\xbf\xbf", 0},
                                                           {"\xc3\xbc\xc3(", 2},
                                                           {"\xe2\x82", 0},
                                                           {"\xf5\x80\x80\x80", 0},
                                                           {"0123456\xe2\x28\xa1", 7}};
  for (const auto& [text, place] : bad) EXPECT_EQ(find_invalid_utf8(text), place) << text;
}

DataSummary summary_of(const std::string& name, std::string_view bytes) {
  OpenData data = open_data(memory_input(name, bytes), {});
  return summarize(*data.reader, data.format->pixels, [](int64_t) {});
}

TEST(Summary, CountsAndFirstPlaces) {
  const std::string bytes =
      std::string("text,label\nx,a\ny\xff,b\nx,a\n,\nz") + '\0' + ",c\n\xfe,c\n";
  const DataSummary s = summary_of("t.csv", bytes);
  EXPECT_EQ(s.records, 6);
  EXPECT_EQ(s.unlabelled, 1);
  EXPECT_EQ(s.repeated(), 1);
  EXPECT_EQ(s.invalid_utf8.records, 2);
  EXPECT_EQ(s.invalid_utf8.first, "t.csv:3:4");
  EXPECT_EQ(s.nul.records, 1);
  EXPECT_EQ(s.nul.first, "t.csv:6:4");
  EXPECT_EQ(s.empty.records, 1);
  const auto labels = s.labels.sorted();
  ASSERT_EQ(labels.size(), 3u);
  EXPECT_EQ(labels[1], (std::pair<std::string, int64_t>("b", 1)));
  EXPECT_EQ(s.text.smallest(), 0);
  EXPECT_EQ(s.text.largest(), 2);
  EXPECT_EQ(s.second.records(), 0);
}

TEST(Summary, ContentsInBoth) {
  const DataSummary a = summary_of("a.csv", "text,label\nx,1\ny,1\nx,2\nz,1\n");
  const DataSummary b = summary_of("b.csv", "text,label\nz,0\nw,1\nx,2\nx,3\n");
  EXPECT_EQ(shared_contents(a, b), 2);
  EXPECT_EQ(shared_contents(a, a), 3);
}

TEST(Summary, TooManyClassesAreNotCountedForEver) {
  LabelCounts counts;
  for (int i = 0; i < 150'000; ++i) counts.add(std::to_string(i));
  EXPECT_TRUE(counts.overflow());
  EXPECT_EQ(counts.sorted().size(), 100'000u);
  EXPECT_THROW(LabelSet::from(counts), Error);
}

TEST(Lengths, QuantilesExactAndNearlySo) {
  LengthCounts lengths;
  for (size_t i = 1; i <= 1000; ++i) lengths.add(i);
  EXPECT_EQ(lengths.quantile(0.5), 500);
  EXPECT_EQ(lengths.quantile(0.9), 900);
  EXPECT_EQ(lengths.quantile(0), 1);
  EXPECT_EQ(lengths.quantile(1), 1000);
  EXPECT_DOUBLE_EQ(lengths.mean(), 500.5);
  EXPECT_EQ(lengths.between(512, 1023), 489);
  for (const size_t large : {size_t{65'535}, size_t{65'536}, size_t{1'000'003}, size_t{1} << 32}) {
    LengthCounts one;
    one.add(large);
    EXPECT_NEAR(static_cast<double>(one.quantile(0.5)), static_cast<double>(large),
                0.002 * static_cast<double>(large));
    EXPECT_EQ(one.largest(), static_cast<int64_t>(large));
    EXPECT_EQ(one.between(0, one.largest()), 1);
  }
}

}  // namespace
}  // namespace linnet
