// run_records_test.cpp -- good lines are read whole, wrong ones are one sentence with file and
// line.
#include "report/run_records.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"

namespace linnet {
namespace {

constexpr const char* kRun =
    R"({"arena":"a","task":"t","row":"r","profile":"desk","seed":1,"status":"ok","new field":[1],)"
    R"("settings":{"lr":0.1,"model":{"width":64,"seed":1},"seed":1},"commit":"abc","seconds":2.5,)"
    R"("tokens":100,"validation":{"loss":null,"accuracy":0.5},"test":{"accuracy":0.25},)"
    R"("curve":[{"step":1,"seconds":1,"loss":2},{"step":2,"validation_accuracy":0.5}]})";

RunRecords read(const std::string& content) {
  RunRecords records;
  add_run_records(content, "f.jsonl", records);
  return records;
}

std::string fault(const std::string& content) {
  try {
    read(content);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

// kRun with one part replaced.
std::string with(const std::string& part, const std::string& other) {
  std::string text = kRun;
  const size_t at = text.find(part);
  EXPECT_NE(at, text.npos) << part;
  return text.replace(at, part.size(), other) + "\n";
}

TEST(RunRecordsTest, ReadsARun) {
  const RunRecords records = read(std::string("\n") + kRun + "\n\n");
  ASSERT_EQ(records.runs.size(), 1u);
  const RunRecord& run = records.runs[0];
  EXPECT_TRUE(run.ok);
  EXPECT_EQ(run.place, "f.jsonl:2");
  EXPECT_EQ(run.test.accuracy, 0.25);
  EXPECT_TRUE(std::isnan(run.validation.loss));
  EXPECT_TRUE(std::isnan(run.flops));
  EXPECT_EQ(run.seconds, 2.5);
  const std::map<std::string, std::string> settings = {{"lr", "0.1"}, {"model.width", "64"}};
  EXPECT_EQ(run.settings, settings);
  ASSERT_EQ(run.curve.size(), 2u);
  EXPECT_EQ(run.curve[0].loss, 2);
  EXPECT_TRUE(std::isnan(run.curve[1].seconds));
}

TEST(RunRecordsTest, LaterRunsReplaceEarlierOnes) {
  const std::string run = std::string(kRun) + "\n";
  EXPECT_EQ(read(run + with("0.25", "0.75")).runs.size(), 1u);
  EXPECT_EQ(read(run + with("0.25", "0.75")).runs[0].test.accuracy, 0.75);
  EXPECT_EQ(read(run + with("\"seed\":1,\"status\"", "\"seed\":2,\"status\"")).runs.size(), 2u);
  EXPECT_EQ(read(run + with("0.1", "0.2")).runs.size(), 2u);   // other settings
  EXPECT_EQ(read(run + with("desk", "big")).runs.size(), 2u);  // other profile
  EXPECT_EQ(read(run + with("abc", "def")).runs.size(), 1u);   // a commit does not count
  EXPECT_EQ(read(run + with("\"ok\"", "\"failed\"")).runs[0].ok, false);
}

TEST(RunRecordsTest, PlansAndReferences) {
  const RunRecords records =
      read(R"({"plan":{"arena":"a","tasks":["t"],"rows":["r","s"],"seeds":2}})"
           "\n"
           R"({"plan":{"arena":"a","tasks":["t"],"rows":["r"],"seeds":[7,9],)"
           R"("seconds_per_run":{"t":5,"u":{"r":6}}}})"
           "\n"
           R"({"reference":"chance","task":"t","accuracy":0.1})");
  ASSERT_EQ(records.plans.size(), 1u);  // the later one
  const std::vector<uint64_t> seeds = {7, 9};
  EXPECT_EQ(records.plans[0].seeds, seeds);
  EXPECT_EQ(records.plans[0].seconds_per_run.at({"t", ""}), 5);
  EXPECT_EQ(records.plans[0].seconds_per_run.at({"u", "r"}), 6);
  ASSERT_EQ(records.references.size(), 1u);
  EXPECT_EQ(records.references[0].accuracy, 0.1);
}

TEST(RunRecordsTest, FaultsNameFileAndLine) {
  const std::string run = std::string(kRun) + "\n";
  EXPECT_EQ(fault(run + "{\"arena\":\n" + run), "[f.jsonl:2] is not JSON, or is cut short");
  EXPECT_EQ(fault("[1]\n"), "[f.jsonl:1] must be a JSON object");
  EXPECT_NE(fault("{}\n").find("neither a run"), std::string::npos);
  EXPECT_NE(fault(std::string(100000, '[')).find("nested too deep"), std::string::npos);
  EXPECT_NE(fault(with("{\"lr\":0.1", "{\"x\":[[[[[[[[[1]]]]]]]]],\"lr\":0.1")).find("too deep"),
            std::string::npos);
  for (const auto& [part, other, word] :
       {std::tuple("\"a\"", "\"\"", "\"arena\" must be a text"),
        std::tuple("\"t\"", "7", "\"task\" must be a text"),
        std::tuple("\"seed\":1,\"status\"", "\"seed\":-1,\"status\"", "seed"),
        std::tuple("\"seed\":1,\"status\"", "\"seed\":1.5,\"status\"", "seed"),
        std::tuple("\"ok\"", "\"fine\"", "\"status\" must be"),
        std::tuple("0.25", "25", "\"accuracy\" must be a number from 0 to 1"),
        std::tuple("0.25", "null", "must have \"test\""),
        std::tuple("2.5", "-2.5", "\"seconds\" must be a number"),
        std::tuple("2.5", "1e999", "not JSON"), std::tuple("\"step\":2", "\"step\":1", "must rise"),
        std::tuple("\"step\":2,", "", "has no \"step\""),
        std::tuple("[{\"step\":1,", "[3,{\"step\":1,", "must be an object"),
        std::tuple("\"abc\"", "{}", "\"commit\" must be a text")}) {
    const std::string message = fault(with(part, other));
    EXPECT_EQ(message.find("[f.jsonl:1] "), 0u) << message;
    EXPECT_NE(message.find(word), std::string::npos) << message;
  }
  EXPECT_NE(
      fault(R"({"plan":{"arena":"a","tasks":["t"],"rows":["r"],"seeds":99999999}})").find("10000"),
      std::string::npos);
  EXPECT_NE(fault(R"({"reference":"x","task":"t"})").find("accuracy"), std::string::npos);
}

TEST(RunRecordsTest, ReadsMeasurementsOverTheLengthAndLeavesOutWhatElseABenchSays) {
  const RunRecords records =
      read(R"({"bench":"mixers","commit":"abc"})"
           "\n"
           R"({"mixer":"scan","mode":"train","length":256,"seconds":0.5,"memory_mb":3})"
           "\n"
           R"({"mixer":"scan","grows_in":"train","growth":2})"
           "\n"
           R"({"row":"1xglu","train_tokens_per_s":5,"of_linear_kernel":0.9})");
  ASSERT_EQ(records.lengths.size(), 1u);
  EXPECT_TRUE(records.lengths[0].training);
  EXPECT_EQ(records.lengths[0].length, 256);
  for (const char* line :
       {R"({"mixer":"scan","length":0,"seconds":1})", R"({"mixer":"scan","length":9})",
        R"({"mixer":7,"length":9})", R"({"projection":"table1","task":"t","row":"r"})",
        R"({"projection":"table1","task":"t","seconds":1})"})
    EXPECT_EQ(fault(line).find("[f.jsonl:1] "), 0u) << line;
}

TEST(RunRecordsTest, ALineThatIsBeingWrittenIsLeftOut) {
  const std::string run = std::string(kRun) + "\n";
  const RunRecords records = read(run + "{\"arena\":\"a\",\"ta");
  EXPECT_EQ(records.runs.size(), 1u);
  ASSERT_EQ(records.notes.size(), 1u);
  EXPECT_EQ(records.notes[0], "f.jsonl:2 is cut short and was left out");
}

TEST(RunRecordsTest, NamesCannotSteerATerminal) {
  const RunRecords records = read(with("\"r\"", "\"r\\u001b[31m\""));
  EXPECT_EQ(records.runs[0].row, "r\\x1b[31m");
}

}  // namespace
}  // namespace linnet
