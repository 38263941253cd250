// formats_test.cpp -- every format of the list: guessed, read, refused with a place.
#include "data/formats.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/data/reading.h"

namespace linnet {
namespace {

using Labels = std::vector<std::string>;

TEST(Formats, RecordsAreWhole) {
  std::set<std::string_view> names;
  for (const Format* format : formats()) {
    EXPECT_TRUE(names.insert(format->name).second) << format->name;
    EXPECT_FALSE(format->summary.empty()) << format->name;
    EXPECT_FALSE(format->layout.empty()) << format->name;
    EXPECT_TRUE(format->takes_files || format->takes_folders) << format->name;
    EXPECT_NE(format->matches, nullptr) << format->name;
    EXPECT_NE(format->open, nullptr) << format->name;
    EXPECT_TRUE(format->splits != nullptr || !format->takes_folders) << format->name;
  }
}

TEST(Formats, AnEmptyFileIsASentence) {
  for (const Format* format : formats()) {
    if (!format->takes_files || format->name == "citations") continue;
    ReadOptions options;
    options.format = format->name;
    EXPECT_EQ(error_of_bytes("empty", "", options), "[empty] has no records") << format->name;
    if (!format->pixels && format->name != "text") {
      EXPECT_EQ(error_of_bytes("empty", "\n\n", options), "[empty] has no records") << format->name;
    }
  }
  EXPECT_EQ(error_of_bytes("t.csv", "text,label\n"), "[t.csv] has no records");
  EXPECT_EQ(error_of_bytes("nothing.bin", ""),
            "[nothing.bin] is no layout that linnet knows; give --format");
}

TEST(Formats, GuessedByNameAndContent) {
  const std::vector<std::tuple<std::string, std::string, std::string>> table = {
      {"a.csv", "x,y\n", "csv"},
      {"a.tsv", "x\ty\n", "tsv"},
      {"a.tsv", "0\t12\t9\tgood\n", "imdb-tsv"},
      {"a.tsv", "2\t12\t9\tgood\n", "tsv"},
      {"a.tsv", "0\t12\t9\tgood\tmore\n", "tsv"},
      {"basic_train.tsv", "Source\tTarget\r\n5\t5\r\n", "lra-listops"},
      {"new_aan_pairs.eval.tsv", "1.0\ta\tb\tx\ty\n", "lra-aan"},
      {"a.jsonl", "{\"text\": \"x\"}\n", "jsonl"},
      {"a.txt", "__label__x y\n", "fasttext"},
      {"a.txt", "once\n", "text"},
      {"-", "once upon a time, there was\na bird\n", "text"},
      {"-", "one, two\nthree, four\nand so on\n", "text"},
      {"-", "a,b\nc,\"d\n", "csv"},
      {"-", "{\"text\": \"x\"}\n", "jsonl"},
      {"-", "a,b\nc,d\n", "csv"},
      {"-", "a\tb\nc\td\n", "tsv"},
      {"-", "__label__x y\n", "fasttext"},
      {"-", "1\t7\t10\tgood\n", "imdb-tsv"},
  };
  for (const auto& [name, bytes, format] : table) {
    EXPECT_EQ(open_data(memory_input(name, bytes), {}).format->name, format) << name << bytes;
  }
  EXPECT_NE(error_of_bytes("a.exe", "MZ").find("give --format"), std::string::npos);
  ReadOptions options;
  options.format = "magic";
  const std::string message = error_of_bytes("a.csv", "x", options);
  EXPECT_NE(message.find("no such format"), std::string::npos) << message;
  EXPECT_NE(message.find("fasttext"), std::string::npos) << message;
}

TEST(Csv, ColumnsByNameNumberAndGuess) {
  const std::string bytes = "id,review,sentiment\n7,Good film,pos\n8,\"Bad, bad\",neg\n";
  auto rows = rows_of("t.csv", bytes);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].text, "Good film");
  EXPECT_EQ(rows[1].labels, Labels{"neg"});
  EXPECT_EQ(rows[1].place, "t.csv:3:14");
  ReadOptions options;
  options.text_column = "id";
  options.label_column = "2";
  rows = rows_of("t.csv", bytes, options);
  EXPECT_EQ(rows[1].text, "8");
  EXPECT_EQ(rows[1].labels, Labels{"Bad, bad"});
  options.label_column = "lable";
  EXPECT_EQ(
      error_of_bytes("t.csv", bytes, options),
      "[t.csv] --label-column: no column \"lable\"; there are 3: 1 id, 2 review, 3 sentiment");
  options.label_column = "4";
  EXPECT_NE(error_of_bytes("t.csv", bytes, options).find("no column \"4\""), std::string::npos);
  options.label_column = "0";
  EXPECT_NE(error_of_bytes("t.csv", bytes, options).find("no column \"0\""), std::string::npos);
  options.label_column = "id";
  EXPECT_NE(error_of_bytes("t.csv", bytes, options).find("cannot be the text and the label"),
            std::string::npos);
}

TEST(Csv, HeaderIsGuessedOrForced) {
  EXPECT_EQ(rows_of("t.csv", "3,Some news\n1,Other news\n").size(), 2u);
  EXPECT_EQ(rows_of("t.csv", "kind,words\n1,Some news\n2,Other news\n").size(), 2u);
  EXPECT_EQ(rows_of("t.csv", "Label , Text\nx,Some news\n").size(), 1u);
  EXPECT_EQ(rows_of("t.csv", "premise,hypothesis\nIt rains,It is wet\n")[0].second, "It is wet");
  ReadOptions options;
  options.header = false;
  const auto rows = rows_of("t.csv", "label,text\nx,Some news\n", options);
  EXPECT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].text, "text");
  options.header = true;
  EXPECT_EQ(rows_of("t.csv", "3,Some news\n1,Other news\n", options).size(), 1u);
}

TEST(Csv, WithoutNamesTheLongestIsTextAndWhatRepeatsIsTheLabel) {
  std::string bytes;
  for (int i = 0; i < 20; ++i) {
    bytes += std::to_string(i) + "," + (i % 2 ? "a" : "b") + ",a longer text no " +
             std::to_string(i) + "\n";
  }
  const auto rows = rows_of("t.csv", bytes);
  ASSERT_EQ(rows.size(), 20u);
  EXPECT_EQ(rows[3].text, "a longer text no 3");
  EXPECT_EQ(rows[3].labels, Labels{"a"});
}

TEST(Csv, PairsOfTexts) {
  auto rows = rows_of("t.csv", "label,sentence1,sentence2\n1,one,two\n");
  EXPECT_EQ(rows[0].text, "one");
  EXPECT_EQ(rows[0].second, "two");
  ReadOptions options;
  options.text_column = "a";
  options.second_column = "b";
  rows = rows_of("t.csv", "a,b,c\nx,y,z\n", options);
  EXPECT_EQ(rows[0].second, "y");
  EXPECT_EQ(rows[0].labels, Labels{"z"});
}

TEST(Csv, SeveralLabelsAndNone) {
  ReadOptions options;
  options.label_separator = "|";
  const auto rows = rows_of("t.csv", "text,labels\nx,a|b | c\ny,\nz,|\n", options);
  EXPECT_EQ(rows[0].labels, (Labels{"a", "b", "c"}));
  EXPECT_TRUE(rows[1].labels.empty());
  EXPECT_TRUE(rows[2].labels.empty());
}

TEST(Csv, DelimiterIsGuessedOrForced) {
  EXPECT_EQ(rows_of("t.csv", "text;label\n\"a;b\";x\n")[0].text, "a;b");
  EXPECT_EQ(rows_of("t.csv", "text|label\na,b|x\n")[0].text, "a,b");
  ReadOptions options;
  options.delimiter = "~";
  EXPECT_EQ(rows_of("t.csv", "text~label\na,b~x\n", options)[0].labels, Labels{"x"});
  options.delimiter = "ab";
  EXPECT_NE(error_of_bytes("t.csv", "text\n", options).find("[--delimiter]"), std::string::npos);
}

TEST(Csv, ARowWithAnotherNumberOfFields) {
  EXPECT_EQ(error_of_bytes("t.csv", "text,label\na,b\nc,d,e\n"),
            "[t.csv:3:5] this row has 3 fields, not 2 as the first row");
  EXPECT_EQ(error_of_bytes("t.csv", "text,label\na,b\n\"c\nd\"\n"),
            "[t.csv:3:1] this row has 1 fields, not 2 as the first row");
}

TEST(Csv, ARowLongerThanWhatAGuessLooksAt) {
  const std::string large(300'000, 'x');
  const auto rows = read_rows(
      open_data(memory_input("t.csv", "label,text\na," + large + "\nb,\"" + large + "\n\"\n"), {}));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].text, large);
  EXPECT_EQ(rows[1].labels, Labels{"b"});
  // Without a header the first row alone decides.
  EXPECT_EQ(read_rows(open_data(memory_input("t.csv", "5," + large + "\n"), {})).size(), 1u);
}

TEST(Tsv, EscapesOnlyWhenAskedFor) {
  const std::string bytes = "text\tlabel\na\\nb\tx\n";
  EXPECT_EQ(rows_of("t.tsv", bytes)[0].text, "a\\nb");
  ReadOptions options;
  options.escapes = true;
  EXPECT_EQ(rows_of("t.tsv", bytes, options)[0].text, "a\nb");
  EXPECT_NE(error_of_bytes("t.tsv", "text\tlabel\na\\qb\tx\n", options).find("[t.tsv:2:2]"),
            std::string::npos);
}

TEST(Jsonl, FieldsOfAllKinds) {
  const auto rows = rows_of(
      "t.jsonl",
      "{\"id\": 1, \"text\": \"a\\n\\u00e4\", \"label\": \"x\", \"more\": {\"text\": [1, {}]}}\n"
      "\n{\"label\": 3, \"text\": \"\"}\r\n  \n"
      "{\"text\": \"b\", \"label\": [\"x\", 2, true], \"z\": null}\n"
      "{\"text\": \"c\", \"label\": null}\n{\"text\": \"d\"}\n{\"text\": \"e\", \"label\": 1.5}");
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows[0].text, "a\n\xc3\xa4");
  EXPECT_EQ(rows[0].labels, Labels{"x"});
  EXPECT_EQ(rows[1].labels, Labels{"3"});
  EXPECT_EQ(rows[1].place, "t.jsonl:3:1");
  EXPECT_EQ(rows[2].labels, (Labels{"x", "2", "true"}));
  EXPECT_TRUE(rows[3].labels.empty());
  EXPECT_TRUE(rows[4].labels.empty());
  EXPECT_EQ(rows[5].labels, Labels{"1.5"});
}

TEST(Jsonl, NamedAndGuessedFields) {
  ReadOptions options;
  options.text_column = "b";
  options.second_column = "a";
  auto rows = rows_of("t.jsonl", "{\"a\": \"1\", \"b\": \"2\", \"c\": \"3\"}\n", options);
  EXPECT_EQ(rows[0].text, "2");
  EXPECT_EQ(rows[0].second, "1");
  rows = rows_of("t.jsonl", "{\"premise\": \"p\", \"hypothesis\": \"h\", \"gold_label\": \"g\"}\n");
  EXPECT_EQ(rows[0].second, "h");
  EXPECT_EQ(rows[0].labels, Labels{"g"});
  options.text_column = "nope";
  EXPECT_EQ(error_of_bytes("t.jsonl", "{\"a\": \"1\"}\n", options),
            "[t.jsonl] --text-column: no column \"nope\"; there are 1: 1 a");
}

TEST(Jsonl, TheFirstLineMayComeLate) {
  const auto rows = rows_of("t.jsonl", "\n \t\n\r\n{\"review\": \"x\", \"stars\": 5}\n");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].text, "x");
  EXPECT_EQ(rows[0].labels, Labels{"5"});
  EXPECT_EQ(rows[0].place, "t.jsonl:4:1");
  EXPECT_TRUE(error_of_bytes("t.jsonl", "\n\n{\n").starts_with("[t.jsonl:3:2] no valid JSON"));
}

TEST(Jsonl, FaultsHaveTheirPlace) {
  const std::string good = "{\"text\": \"x\", \"label\": 1}\n";
  const auto fault = [&](const std::string& line) {
    return error_of_bytes("t.jsonl", good + line + "\n");
  };
  EXPECT_TRUE(fault("{\"text\": x}").starts_with("[t.jsonl:2:10] no valid JSON: "))
      << fault("{\"text\": x}");
  EXPECT_TRUE(fault("{\"text\": \"x\"} 1").starts_with("[t.jsonl:2:15] no valid JSON: "));
  EXPECT_TRUE(fault("[1]").starts_with("[t.jsonl:2:1] no valid JSON: a line must be an object"));
  EXPECT_TRUE(fault("5").starts_with("[t.jsonl:2:1] no valid JSON: a line must be an object"));
  EXPECT_EQ(fault("{\"label\": 1}"), "[t.jsonl:2:1] no field \"text\"");
  EXPECT_NE(fault("{\"text\": 5}").find("[t.jsonl:2:1] no string"), std::string::npos);
  EXPECT_NE(fault("{\"text\": [\"a\"]}").find("[t.jsonl:2:1] no string"), std::string::npos);
  EXPECT_NE(fault("{\"text\": \"a\", \"label\": {}}").find("\"label\""), std::string::npos);
  EXPECT_TRUE(fault("{\"text\": \"\xff\"}").starts_with("[t.jsonl:2:"));  // JSON is UTF-8
  EXPECT_NE(error_of_bytes("t.jsonl", "[\"text\": 1}").find("not an array"), std::string::npos);
  // A file of one array is no JSON lines, and says so.
  EXPECT_TRUE(error_of_bytes("t.json", "[{\"text\": \"x\"}]").starts_with("[t.json:1:1] "));
  const std::string deep(1'000'000, '[');
  EXPECT_TRUE(fault("{\"a\": " + deep).starts_with("[t.jsonl:2:"));
}

TEST(Fasttext, LabelsWhereverTheyStand) {
  const auto rows = rows_of("t.txt",
                            "__label__a some words\n__label__a __label__b  more\twords \r\n"
                            "in __label__mid between\nat the end __label__z\n__label__alone\n"
                            "no__label__x here\n");
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows[0].text, "some words");
  EXPECT_EQ(rows[1].text, "more\twords");
  EXPECT_EQ(rows[1].labels, (Labels{"a", "b"}));
  EXPECT_EQ(rows[2].text, "in between");
  EXPECT_EQ(rows[2].labels, Labels{"mid"});
  EXPECT_EQ(rows[2].place, "t.txt:3:4");
  EXPECT_EQ(rows[3].text, "at the end");
  EXPECT_EQ(rows[4].text, "");
  EXPECT_EQ(rows[5].text, "no__label__x here");
  EXPECT_TRUE(rows[5].labels.empty());
}

TEST(Conll, SentencesOfWordsAndTags) {
  const auto rows = rows_of("t.conll",
                            "-DOCSTART- -X- O O\n\nEU NNP B-ORG\nrejects VBZ  O \n\n\r\n"
                            "Brussels\tB-LOC\r\n.\tO");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].text, "EU rejects");
  EXPECT_EQ(rows[0].labels, (Labels{"B-ORG", "O"}));
  EXPECT_EQ(rows[0].place, "t.conll:3:1");
  EXPECT_EQ(rows[1].text, "Brussels .");
  EXPECT_EQ(rows[1].labels, (Labels{"B-LOC", "O"}));
  EXPECT_EQ(error_of_bytes("t.conll", "a O\n\n word \n"),
            "[t.conll:3:2] a line needs a word and a tag");
}

TEST(PlainText, PiecesAreTheFile) {
  std::string bytes;
  for (int i = 0; bytes.size() < 300'000; ++i) bytes += "line " + std::to_string(i) + "\r\n\n";
  bytes += std::string(200'000, 'x') + "\0\xff";
  const auto rows = rows_of("t.txt", bytes);
  std::string joined;
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_LE(rows[i].text.size(), 65'536u);
    EXPECT_EQ(rows[i].continues, i + 1 < rows.size());
    if (joined.size() + 65'536 < 300'000) {
      EXPECT_EQ(rows[i].text.back(), '\n');
    }
    joined += rows[i].text;
  }
  EXPECT_EQ(joined, bytes);
}

TEST(PlainText, PiecesEndBetweenCharacters) {
  std::string bytes;
  while (bytes.size() < 200'000) bytes += "\xe2\x82\xac";
  const auto rows = rows_of("t.txt", bytes);
  ASSERT_EQ(rows.size(), 4u);
  std::string joined;
  for (const Row& row : rows) {
    EXPECT_EQ(row.text.size() % 3, 0u);
    joined += row.text;
  }
  EXPECT_EQ(joined, bytes);
}

}  // namespace
}  // namespace linnet
