// rows_test.cpp -- CSV and TSV: quotes, line ends, escapes, places of faults, limits.
#include "data/rows.h"

#include <gtest/gtest.h>

#include "tests/data/reading.h"

namespace linnet {
namespace {

using Table = std::vector<std::vector<std::string>>;

Table read(std::unique_ptr<RowSource> source) {
  Table table;
  for (std::vector<Field> row; source->next(row);) {
    auto& copy = table.emplace_back();
    for (const Field& field : row) copy.emplace_back(field.text());
  }
  return table;
}

Table csv(std::string_view bytes, char delimiter = ',') {
  Table table;
  for (const size_t piece : {size_t{1}, size_t{2}, size_t{7}, ~size_t{0}}) {
    Table now = read(csv_rows(Window(bytes_of(bytes, piece), "t.csv", kRecordLimit), delimiter));
    if (piece > 1) {
      EXPECT_EQ(now, table) << "pieces of " << piece;
    }
    table = std::move(now);
  }
  return table;
}

Table tsv(std::string_view bytes) {
  return read(tsv_rows(Window(bytes_of(bytes), "t.tsv", kRecordLimit)));
}

TEST(Csv, PlainAndQuotedFields) {
  EXPECT_EQ(csv("a,b\n1,2\n"), (Table{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(csv("a,b\n1,2"), (Table{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(csv("\"a\",\"b\"\n"), (Table{{"a", "b"}}));
  EXPECT_EQ(csv("\"a,b\",c\n"), (Table{{"a,b", "c"}}));
  EXPECT_EQ(csv("\"line 1\nline 2\",c\nd,e\n"), (Table{{"line 1\nline 2", "c"}, {"d", "e"}}));
  EXPECT_EQ(csv("\"say \"\"hi\"\"\",x\n"), (Table{{"say \"hi\"", "x"}}));
  EXPECT_EQ(csv("\"\"\"\"\n"), (Table{{"\""}}));
  EXPECT_EQ(csv("\"\"\"\"\"\",\"\"\n"), (Table{{"\"\"", ""}}));
  EXPECT_EQ(csv("\"a\"\"\nb\"\"\"\n"), (Table{{"a\"\nb\""}}));
  EXPECT_EQ(csv("a;b\n\"1;2\";3", ';'), (Table{{"a", "b"}, {"1;2", "3"}}));
}

TEST(Csv, EmptyFieldsAndBlankLines) {
  EXPECT_EQ(csv(",\n"), (Table{{"", ""}}));
  EXPECT_EQ(csv(","), (Table{{"", ""}}));
  EXPECT_EQ(csv("a,,c\n,b,"), (Table{{"a", "", "c"}, {"", "b", ""}}));
  EXPECT_EQ(csv("\n\na,b\n\r\n\n1,2\n\n"), (Table{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(csv("\"\"\n"), (Table{{""}}));  // an empty field in quotes is no blank line
  EXPECT_EQ(csv(""), Table{});
  EXPECT_EQ(csv("\n\n"), Table{});
}

TEST(Csv, QuotesWithinAFieldAreCharacters) {
  EXPECT_EQ(csv("5\" disk,a\"b\"\nx,y\n"), (Table{{"5\" disk", "a\"b\""}, {"x", "y"}}));
  EXPECT_EQ(csv(" \"a\",b\n"), (Table{{" \"a\"", "b"}}));
}

TEST(Csv, LineEndsOfWindows) {
  EXPECT_EQ(csv("a,b\r\n1,2\r\n"), (Table{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(csv("\"a\",\"b\"\r\n\"1\r\n2\",\"3\"\r\n"), (Table{{"a", "b"}, {"1\r\n2", "3"}}));
  EXPECT_EQ(csv("a\rb,c\n"), (Table{{"a\rb", "c"}}));  // a return alone is a byte like any other
}

TEST(Csv, ByteOrderMark) {
  EXPECT_EQ(csv("\xef\xbb\xbf\"a\",b\n"), (Table{{"a", "b"}}));
  EXPECT_EQ(tsv("\xef\xbb\xbf"
                "a\tb\n"),
            (Table{{"a", "b"}}));
  for (const std::string_view utf16 : {std::string_view("\xff\xfe"
                                                        "a\0,\0",
                                                        6),
                                       std::string_view("\xfe\xff\0a\0,", 6)}) {
    const std::string message = error_of([&] { csv(utf16); });
    EXPECT_TRUE(message.starts_with("[t.csv:1:1] is UTF-16")) << message;
  }
}

TEST(Csv, FaultsHaveTheirPlace) {
  EXPECT_EQ(error_of([] { csv("a,b\nc,\"d\ne\nf"); }), "[t.csv:2:3] a quote that is never closed");
  const std::string after = error_of([] { csv("a,b\n\"x\ny\" z,2\n"); });
  EXPECT_TRUE(after.starts_with("[t.csv:3:3] after a closing quote comes \",\"")) << after;
  EXPECT_NE(error_of([] { csv("\"a\"\rb\n"); }).find("[t.csv:1:4]"), std::string::npos);
}

TEST(Csv, BytesThatAreNoTextAreKept) {
  const std::string odd("a\0b,\xff\xfe\x80,\"\0\"\n", 12);
  EXPECT_EQ(csv(odd), (Table{{std::string("a\0b", 3), "\xff\xfe\x80", std::string(1, '\0')}}));
}

TEST(Csv, PlacesOfFields) {
  auto source = csv_rows(
      Window(bytes_of("id,text\n\n1,\"two\nlines\",x\n2,\"a\"\"b\",yy\n"), "t", kRecordLimit), ',');
  std::vector<Field> row;
  std::vector<std::pair<int64_t, size_t>> places;
  while (source->next(row)) {
    for (const Field& field : row) places.emplace_back(field.line, field.column);
  }
  EXPECT_EQ(places, (std::vector<std::pair<int64_t, size_t>>{
                        {1, 1}, {1, 4}, {3, 1}, {3, 3}, {4, 8}, {5, 1}, {5, 3}, {5, 10}}));
}

TEST(Csv, LongFieldsAcrossManyBuffers) {
  std::string wide(3'000'000, 'w'), quoted;
  for (int i = 0; i < 300'000; ++i) quoted += "x\"\"\ny,";
  const Table table = read(csv_rows(
      Window(bytes_of(wide + ",\"" + quoted + "\"\nnext,row\n", 65'536), "t", kRecordLimit), ','));
  ASSERT_EQ(table.size(), 2u);
  EXPECT_EQ(table[0][0], wide);
  EXPECT_EQ(table[0][1].size(), quoted.size() - 300'000);
  EXPECT_EQ(table[1], (std::vector<std::string>{"next", "row"}));
}

// A stream without end, as a file of 2 GB without a line end would be.
class Endless : public ByteSource {
 public:
  explicit Endless(char c) : c_(c) {}
  size_t read(char* into, size_t room) override {
    std::fill(into, into + room, c_);
    given_ += room;
    return room;
  }
  static inline size_t given_ = 0;

 private:
  char c_;
};

TEST(RecordLimit, ALineWithoutEndIsASentenceAndNotMemory) {
  constexpr size_t kLimit = size_t{1} << 20;
  for (const bool quoted : {false, true}) {
    Endless::given_ = 0;
    auto source =
        csv_rows(Window(std::make_unique<Endless>(quoted ? '"' : 'x'), "big.csv", kLimit), ',');
    std::vector<Field> row;
    const std::string message = error_of([&] { source->next(row); });
    EXPECT_TRUE(message.starts_with("[big.csv:1:1] a record of more than 1048576 bytes"))
        << message;
    EXPECT_NE(message.find("--record-limit"), std::string::npos);
    EXPECT_LE(Endless::given_, 4 * kLimit);
  }
  auto source = tsv_rows(Window(std::make_unique<Endless>('x'), "big.tsv", kLimit));
  std::vector<Field> row;
  EXPECT_NE(error_of([&] { source->next(row); }).find("[big.tsv:1:1]"), std::string::npos);
}

TEST(Tsv, TabsAloneSeparate) {
  EXPECT_EQ(tsv("a\t\"b\nc\t,d\r\n\n\t\n"), (Table{{"a", "\"b"}, {"c", ",d"}, {"", ""}}));
  EXPECT_EQ(tsv("one"), (Table{{"one"}}));
}

std::string unescaped(std::string text) {
  const Window window(bytes_of(""), "t.tsv", kRecordLimit);
  Field field{text.data(), text.data() + text.size(), 3, 5};
  unescape(field, window);
  return std::string(field.text());
}

TEST(Tsv, Escapes) {
  EXPECT_EQ(unescaped("plain"), "plain");
  EXPECT_EQ(unescaped(""), "");
  EXPECT_EQ(unescaped("a\\tb\\nc\\rd\\\\e"), "a\tb\nc\rd\\e");
  EXPECT_EQ(unescaped("\\\\n"), "\\n");
  EXPECT_EQ(unescaped("\\\\\\n\\\\"), "\\\n\\");
  EXPECT_EQ(error_of([] { unescaped("ab\\x"); }),
            "[t.tsv:3:7] a backslash here must be one of \\\\ \\t \\n \\r");
  EXPECT_NE(error_of([] { unescaped("\\"); }).find("[t.tsv:3:5]"), std::string::npos);
}

}  // namespace
}  // namespace linnet
