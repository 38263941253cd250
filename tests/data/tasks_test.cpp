// tasks_test.cpp -- what each task makes of its records; parts, and the choices before training.
#include <gtest/gtest.h>

#include "data/prepare.h"
#include "data/task.h"
#include "tests/data/reading.h"

namespace linnet {
namespace {

using Ids = std::vector<int32_t>;

std::string text_of(const Ids& ids) { return {ids.begin(), ids.end()}; }

class TaskTest : public FolderTest {
 protected:
  // For records that are bytes, and a model of `length` tokens.
  ExampleMaker maker(const std::string& task, int64_t length, TaskSettings settings) const {
    settings.task = task;
    ModelConfig model;
    model.task = find_task(task).model;
    model.vocab = 256;
    model.length = length;
    model.wide = wide_length_ > 0 ? 1 : 0;
    model.wide_length = wide_length_;
    model.classes = std::max<int64_t>(static_cast<int64_t>(settings.labels.size()), 2);
    model.loss = many_labels_ ? "sigmoid" : "softmax";
    if (model.task == "tokens") model.pool = "none";
    return ExampleMaker(settings, *tokenizer_, model, true);
  }
  // The examples of a file.
  std::vector<Example> examples(const std::string& task, const std::string& file, int64_t length,
                                const TaskSettings& settings = {}) const {
    ExampleStream stream(DataPart{.path = file, .read = read_}, maker(task, length, settings));
    std::vector<Example> result;
    while (stream.next(result)) {
    }
    return result;
  }

  ReadOptions read_;
  bool many_labels_ = false;
  int64_t wide_length_ = 0;
  std::unique_ptr<Tokenizer> tokenizer_ = parse_tokenizer("{\"kind\": \"bytes\"}", "test");
};

TEST_F(TaskTest, TextIsCut) {
  const std::string file = write("t.csv", "text,label\nabcdefghij,x\nab,y\n\"\",x\n");
  const auto cut = examples("text", file, 4, {.labels = {"x", "y"}});
  ASSERT_EQ(cut.size(), 3u);
  EXPECT_EQ(text_of(cut[0].tokens), "abcd");
  EXPECT_EQ(cut[0].label, 0);
  EXPECT_EQ(cut[1].label, 1);
  EXPECT_EQ(cut[2].tokens, Ids{0});  // an empty text is one token
  const auto both = examples("text", file, 4, {.truncate = "head+tail", .labels = {"x", "y"}});
  EXPECT_EQ(text_of(both[0].tokens), "ahij");
}

TEST_F(TaskTest, WhereTextsAreCutAtTheirEndsTheWidePartReadsOn) {
  const std::string file = write("t.csv", "text,label\nabcdefghij,x\nab,y\n");
  const auto read = [&](int64_t wide_length, const TaskSettings& settings) {
    wide_length_ = wide_length;
    return text_of(examples("text", file, 4, settings)[0].tokens);
  };
  EXPECT_EQ(read(7, {.labels = {"x", "y"}}), "abcdefg");
  EXPECT_EQ(read(2, {.labels = {"x", "y"}}), "abcd");  // never less than the deep part
  EXPECT_EQ(read(7, {.truncate = "tail", .labels = {"x", "y"}}), "ghij");
  EXPECT_EQ(read(7, {.stride = 3, .labels = {"x", "y"}}), "abcd");
}

TEST_F(TaskTest, SomeOfAPartAreOfAllLabels) {
  std::string rows = "text,label\n";
  for (int i = 0; i < 20; ++i)
    rows += std::string(1, static_cast<char>('a' + i)) + (i < 10 ? ",x\n" : ",y\n");
  const DataPart part{.path = write("t.csv", rows), .read = {}};
  const auto texts = [&](int64_t records, int64_t all) {
    std::string found;
    for (const Example& e :
         some_examples(part, maker("text", 4, {.labels = {"x", "y"}}), records, all))
      found += text_of(e.tokens);
    return found;
  };
  EXPECT_EQ(texts(4, 20), "afkp");
  EXPECT_EQ(texts(3, 20), "agn");
  EXPECT_EQ(texts(4, 0), "abcd");
  EXPECT_EQ(texts(100, 20), "abcdefghijklmnopqrst");
  EXPECT_EQ(texts(100, 0), "abcdefghijklmnopqrst");
}

TEST_F(TaskTest, TextInWindows) {
  const std::string file = write("t.csv", "text,label\nabcdefghij,x\nab,y\n");
  const auto windows = examples("text", file, 4, {.stride = 3, .labels = {"x", "y"}});
  ASSERT_EQ(windows.size(), 4u);
  EXPECT_EQ(text_of(windows[1].tokens), "defg");
  EXPECT_EQ(text_of(windows[2].tokens), "ghij");
  EXPECT_EQ(windows[2].record, 0);
  EXPECT_EQ(windows[3].record, 1);
}

TEST_F(TaskTest, ManyLabels) {
  const std::string file = write("t.csv", "text,label\na,y;x\nb,z\n");
  read_.label_separator = ";";
  many_labels_ = true;
  const auto rows = examples("text", file, 4, {.labels = {"x", "y", "z"}});
  EXPECT_EQ(rows[0].targets, (Ids{0, 1}));
  EXPECT_EQ(rows[1].targets, Ids{2});
  many_labels_ = false;
  EXPECT_EQ(error_of([&] {
              examples("text", file, 4, {.labels = {"x", "y", "z"}});
            }),
            "[" + file + ":2:3] has 2 labels, one is expected");
}

TEST_F(TaskTest, UnknownLabelInTest) {
  const std::string file = write("t.csv", "text,label\na,x\nb,odd\n");
  EXPECT_EQ(
      error_of([&] {
        examples("text", file, 4, {.labels = {"x", "y"}});
      }),
      "[" + file + ":3:3] label \"odd\" is not among the 2 classes of the training data: x, y");
}

TEST_F(TaskTest, Matching) {
  const std::string file = write("t.csv", "a,b,label\nabcdef,gh,x\n");
  read_.text_column = "a";
  read_.second_column = "b";
  const auto rows = examples("matching", file, 4, {.labels = {"x", "y"}});
  EXPECT_EQ(text_of(rows[0].tokens), "abcd");
  EXPECT_EQ(text_of(rows[0].other), "gh");
}

TEST_F(TaskTest, LongerThanTheModelIsAnErrorWhereNothingMayBeCut) {
  const std::string file = write("t.tsv", "Source\tTarget\n( ( [MAX 1 ) 2 ) ]\t2\n");
  tokenizer_ = parse_tokenizer("{\"kind\": \"listops\"}", "test");
  EXPECT_EQ(examples("listops", file, 4, {.labels = {"1", "2"}})[0].tokens.size(), 4u);
  for (wide_length_ = 0; wide_length_ <= 9; wide_length_ += 9) {
    EXPECT_EQ(error_of([&] {
                examples("listops", file, 3, {.labels = {"1", "2"}});
              }),
              "[" + file + ":2:20] has 4 tokens, the model takes 3");
  }
}

TEST_F(TaskTest, EveryTokenOfATextIsToldOnce) {
  std::string text;
  for (int i = 0; text.size() < 200'000; ++i) text += "line " + std::to_string(i) + "\n";
  const auto rows = examples("lm", write("t.txt", text), 1000);
  std::string told(1, text[0]);
  for (const Example& e : rows) {
    EXPECT_LE(e.tokens.size(), 1000u);
    ASSERT_EQ(e.tokens.size(), e.targets.size());
    EXPECT_EQ(e.tokens[0], told.back());
    told += text_of(e.targets);
    for (size_t t = 1; t < e.tokens.size(); ++t) ASSERT_EQ(e.tokens[t], e.targets[t - 1]);
  }
  EXPECT_EQ(told, text);
}

TEST_F(TaskTest, ALabelForEveryWord) {
  const std::string file = write("t.conll", "ab B\nc O\n\nd O\n");
  const auto rows = examples("tagging", file, 100, {.labels = {"B", "O"}});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(text_of(rows[0].tokens), "ab c");
  EXPECT_EQ(rows[0].targets, (Ids{0, -1, 1, -1}));
  read_.format = "csv";
  read_.label_separator = " ";
  const std::string wrong = write("t.csv", "text,label\na b,O O O\n");
  EXPECT_EQ(error_of([&] {
              examples("tagging", wrong, 100, {.labels = {"B", "O"}});
            }),
            "[" + wrong + ":2:5] has 2 words and 3 labels: each word has one");
}

TEST_F(TaskTest, SettingsAreChecked) {
  ModelConfig model;
  model.length = 10;
  model.classes = 2;
  const auto fault = [&](const TaskSettings& settings) {
    return error_of([&] { check_task_settings(settings, model); });
  };
  EXPECT_EQ(fault({.labels = {"a", "b"}}), "no Error");
  EXPECT_TRUE(fault({.labels = {"a"}}).starts_with("[data.labels]"));
  EXPECT_TRUE(fault({.stride = 11, .labels = {"a", "b"}}).starts_with("[data.stride]"));
  EXPECT_TRUE(fault({.task = "magic"}).starts_with("[config.task]"));
  EXPECT_TRUE(fault({.task = "matching"}).starts_with("[data.task]"));
}

TEST_F(TaskTest, TheTwoSidesOfATextAreTheText) {
  std::string text;
  for (int i = 0; text.size() < 400'000; ++i) text += "line " + std::to_string(i) + "\n";
  const std::string file = write("t.txt", text);
  size_t sizes[2] = {};
  for (const bool train : {true, false}) {
    PartReader reader({.path = file,
                       .read = {},
                       .side = train ? DataPart::Side::train : DataPart::Side::validation,
                       .blocks = true});
    Record record;
    std::string last;
    for (bool continues = false; reader.next(record);) {
      sizes[train] += record.text.size();
      // What continues is what follows in the text.
      EXPECT_TRUE(!continues || text.find(last + std::string(record.text)) != text.npos);
      last = record.text;
      continues = record.continues;
    }
  }
  EXPECT_EQ(sizes[0] + sizes[1], text.size());
  EXPECT_NEAR(static_cast<double>(sizes[0]) / static_cast<double>(text.size()), 0.1, 0.06);
}

TEST_F(TaskTest, PreparedFromAFile) {
  std::string rows = "review,stars\n";
  for (int i = 0; i < 300; ++i) rows += "word" + std::to_string(i) + (i % 3 ? ",good\n" : ",bad\n");
  rows += "alone,odd\n";
  const auto quiet = [](const std::string&, double) {};
  const PreparedTask p =
      prepare({.data = write("t.csv", rows), .tokenizer = "bytes", .read = {}}, 1, quiet);
  EXPECT_EQ(p.task->name, "text");
  EXPECT_GE(p.settings.labels.size(), 2u);
  EXPECT_EQ(p.settings.labels[0], "bad");
  EXPECT_GT(p.records, 240);
  ModelConfig model;
  fit_model(p, false, model);
  EXPECT_EQ(model.vocab, 256);
  EXPECT_EQ(model.length, 7);
  std::string alike = "text,label\n";
  for (int i = 0; i < 60; ++i) alike += std::to_string(i) + ",x\n";
  const std::string same = write("same.csv", alike);
  EXPECT_NE(error_of([&] {
              prepare({.data = same, .read = {}}, 1, quiet);
            }).find("every record has the same label, \"x\""),
            std::string::npos);
  EXPECT_TRUE(error_of([&] {
                prepare({.data = "-", .read = {}}, 1, quiet);
              }).starts_with("[--data] training reads the data several times"));
}

TEST_F(TaskTest, TasksAreGuessed) {
  const auto guess = [&](const std::string& name, std::string_view bytes) {
    PartReader reader(DataPart{.path = write(name, bytes), .read = {}});
    Record record;
    reader.next(record);
    return guess_task(*reader.data().format, record).name;
  };
  EXPECT_EQ(guess("a.csv", "text,label\na,b\n"), "text");
  EXPECT_EQ(guess("a.tsv", "Source\tTarget\n( ( [MAX 1 ) ]\t1\n"), "listops");
  EXPECT_EQ(guess("a.txt", "some text\n"), "lm");
  EXPECT_EQ(guess("a.conll", "word O\n"), "tagging");
  EXPECT_EQ(guess("a.bin", std::string(1025, '\1')), "image");
  EXPECT_EQ(guess("a.jsonl", R"({"text1": "a", "text2": "b", "label": 1})"), "matching");
}

}  // namespace
}  // namespace linnet
