// arena_summary_test.cpp -- cells, rows with several settings, comparisons, what is missing,
// curves, and the forms of the report.
#include "report/arena_summary.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "report/figures.h"
#include "report/report_page.h"
#include "report/report_text.h"
#include "report/run_curves.h"
#include "train/run_identity.h"

namespace linnet {
namespace {

std::string run_line(const std::string& task, const std::string& row, int seed, double accuracy,
                     const std::string& settings = "{}", const std::string& status = "ok") {
  return fmt::format(
      R"({{"arena":"table1","task":"{}","row":"{}","profile":"desk","seed":{},"status":"{}",)"
      R"("settings":{},"seconds":10,"commit":"c{}","test":{{"accuracy":{}}}}})"
      "\n",
      task, row, seed, status, settings, seed, accuracy);
}

struct Read {
  explicit Read(const std::string& content, const std::string& against = "") {
    add_run_records(content, "f", records, with_defaults);
    summary = summarize(records, against);
  }
  const ArenaBoard& board() const { return summary.boards.at(0); }
  RunRecords records;
  ArenaSummary summary;
};

std::string two_rows(int seeds) {
  std::string lines;
  for (int seed = 1; seed <= seeds; ++seed) {
    lines += run_line("listops", "linear-kernel", seed, 0.30 + 0.001 * (seed % 3));
    lines += run_line("listops", "transformer", seed, 0.35 + 0.001 * (seed % 2));
  }
  return lines;
}

TEST(ArenaSummaryTest, CellsInThePapersOrder) {
  const Read read(two_rows(5) + run_line("text", "zebra", 1, 0.5));
  const std::vector<std::string> rows = {"transformer", "linear-kernel", "zebra"};
  EXPECT_EQ(read.board().rows, rows);
  ASSERT_EQ(read.board().tasks.size(), 2u);
  EXPECT_EQ(read.board().tasks[0].task, "text");
  const ArenaTask& task = read.board().tasks[1];
  const ArenaCell* cell = task.find("linear-kernel");
  ASSERT_NE(cell, nullptr);
  EXPECT_EQ(cell->runs.size(), 5u);
  EXPECT_NEAR(cell->mean, 0.3012, 1e-12);  // thirds: 1, 2, 0, 1, 2
  EXPECT_NEAR(cell->best, 0.302, 1e-12);
  EXPECT_NEAR(cell->paper, 0.1854, 1e-12);
  EXPECT_EQ(cell->costs.all_seconds, 50);
  EXPECT_EQ(read.board().against, "transformer");
  ASSERT_TRUE(cell->comparison.has_value());
  EXPECT_EQ(cell->comparison->verdict, Verdict::kLowerIfNormal);
  EXPECT_FALSE(task.find("transformer")->comparison.has_value());
  EXPECT_EQ(Read(two_rows(6)).board().tasks[0].find("linear-kernel")->comparison->verdict,
            Verdict::kLower);
}

TEST(ArenaSummaryTest, ProjectionsAreATableAndFillTheGapsOfAPlan) {
  const std::string lines =
      R"({"plan":{"arena":"table1","profile":"paper","tasks":["listops"],"rows":["1xglu","2xglu"],"seeds":2}})"
      "\n"
      R"({"projection":"table1","profile":"paper","task":"listops","row":"1xglu","seconds":9e5})"
      "\n"
      R"({"projection":"table1","profile":"paper","task":"listops","row":"1xglu","seconds":7200,)"
      R"("steps":100,"step_seconds":72,"tokens_per_s":1234,"commit":"c1","peak_mb":55})"
      "\n";
  const Read read(lines);
  ASSERT_EQ(read.board().projections.size(), 1u);  // the later one
  EXPECT_EQ(read.board().missing.at(0).seconds, 7200);
  EXPECT_TRUE(std::isnan(read.board().missing.at(2).seconds));
  const ReportTable table = projections_table(read.board());
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0][2].text, "2.0 h");
  for (const std::string& text :
       {markdown_report(read.summary, "t"), report_page(read.summary, "t")}) {
    EXPECT_NE(text.find("What whole runs would take"), std::string::npos);
    EXPECT_NE(text.find("1,234"), std::string::npos);
  }
  // Alone they are a report, too.
  EXPECT_EQ(Read(lines.substr(lines.find('\n') + 1)).board().projections.size(), 1u);
}

TEST(ArenaSummaryTest, PairsAreTheCommonSeeds) {
  std::string lines = two_rows(4);
  lines += run_line("listops", "transformer", 9, 0.9);
  lines += run_line("listops", "linear-kernel", 4, 0, "{}", "failed");  // replaces an earlier run
  const Read read(lines);
  const ArenaCell* cell = read.board().tasks[0].find("linear-kernel");
  EXPECT_EQ(cell->runs.size(), 3u);
  EXPECT_EQ(cell->failed.size(), 1u);
  EXPECT_EQ(cell->comparison->test.n, 3u);
  EXPECT_EQ(read.summary.failed, 1u);
}

TEST(ArenaSummaryTest, SettingsMakeRowsOfTheirOwn) {
  std::string lines;
  for (const char* settings : {R"({"lr":0.1,"width":64})", R"({"lr":0.2,"width":64})"})
    lines += run_line("listops", "1xglu", 1, 0.3, settings);
  lines += run_line("listops", "1xglu", 2, 0.3, R"({"lr":0.2,"width":64})");
  const std::vector<std::string> rows = {"1xglu (lr 0.1)", "1xglu (lr 0.2)"};
  EXPECT_EQ(Read(lines).board().rows, rows);
  const std::string plan =
      R"({"plan":{"arena":"table1","profile":"desk","tasks":["listops"],"rows":["1xglu"],"seeds":1}})"
      "\n";
  EXPECT_EQ(Read(plan + lines).board().rows, rows);
  EXPECT_EQ(Read(lines).board().tasks[0].cells[1].runs.size(), 2u);
  EXPECT_EQ(Read(lines, "1xglu (lr 0.2)").board().against, rows[1]);
  EXPECT_THROW(Read(lines, "1xglu"), Error);
  EXPECT_THROW(Read(lines, "magic"), Error);
}

TEST(ArenaSummaryTest, RunsOfEarlierVersionsBelongToLaterOnes) {
  const std::string lines =
      run_line("listops", "1xglu", 1, 0.3,
               R"({"model":{"width":32},"train":{},"tokenizer":"listops"})") +
      run_line(
          "listops", "1xglu", 2, 0.3,
          R"({"model":{"width":32,"wide_length":0},"train":{"choose_by":""},"tokenizer":"listops"})");
  EXPECT_EQ(Read(lines).board().rows, std::vector<std::string>{"1xglu"});
  EXPECT_EQ(
      Read(lines +
           run_line("listops", "1xglu", 3, 0.3,
                    R"({"model":{"width":32,"wide_length":9},"train":{},"tokenizer":"listops"})"))
          .board()
          .rows.size(),
      2u);
}

TEST(ArenaSummaryTest, WhatIsMissing) {
  const std::string plan =
      R"({"plan":{"arena":"table1","tasks":["listops","text"],"rows":["transformer",)"
      R"("linear-kernel"],"seeds":3,"seconds_per_run":{"text":{"transformer":60}}}})"
      "\n";
  const Read read(plan + two_rows(2) + run_line("listops", "transformer", 3, 0, "{}", "failed"));
  EXPECT_EQ(read.board().planned_runs, 12u);
  ASSERT_EQ(read.board().missing.size(), 8u);
  const MissingRun& failed = read.board().missing[0];
  EXPECT_EQ(failed.row, "transformer");
  EXPECT_TRUE(failed.failed);
  EXPECT_EQ(failed.seconds, 10);  // measured
  EXPECT_EQ(read.board().missing[2].task, "text");
  EXPECT_EQ(read.board().missing[2].seconds, 60);  // planned
  EXPECT_TRUE(std::isnan(read.board().missing[5].seconds));
  EXPECT_EQ(progress_sentence(read.board()),
            "4 of 12 planned runs are done; 7 missing, 1 failed. They will take about 3 min 20 s "
            "one after another, and 3 runs of unknown length.");
  const Read only_plan(plan);
  EXPECT_EQ(only_plan.board().missing.size(), 12u);
  EXPECT_NE(report_page(only_plan.summary, "t").find("No run yet"), std::string::npos);
  EXPECT_THROW(Read(R"({"reference":"x","task":"t","accuracy":0.1})"), Error);
}

TEST(ArenaSummaryTest, CurvesOfDifferentLengths) {
  RunRecord first, second;
  for (int step = 0; step <= 10; ++step) {
    const double x = step, y = 2.0 * step;
    first.curve.push_back({x, x, kNotMeasured, kNotMeasured, y});
    if (step % 2 == 0 && step < 9)
      second.curve.push_back({x + 0.5, x, kNotMeasured, kNotMeasured, y + 1 + 4});
  }
  const CurveBand band =
      curve_band({&first, &second}, &RunCurvePoint::step, &RunCurvePoint::validation_accuracy, 9);
  ASSERT_EQ(band.x.size(), 9u);  // both are 2 x, and 2 x + 4
  EXPECT_EQ(band.x.front(), 0.5);
  EXPECT_EQ(band.x.back(), 8.5);
  for (size_t i = 0; i < band.x.size(); ++i) {
    EXPECT_NEAR(band.low[i], 2 * band.x[i], 1e-12);
    EXPECT_NEAR(band.mean[i], 2 * band.x[i] + 2, 1e-12);
    EXPECT_NEAR(band.high[i], 2 * band.x[i] + 4, 1e-12);
  }
  EXPECT_EQ(curve_band({&first, &first}, &RunCurvePoint::step, &RunCurvePoint::validation_accuracy)
                .x.size(),
            11u);
  EXPECT_TRUE(curve_band({&first}, &RunCurvePoint::step, &RunCurvePoint::loss).x.empty());
}

TEST(ArenaSummaryTest, ForeignTextStaysText) {
  const Read read(run_line("listops", "<script>alert(1)</script>", 1, 0.3) +
                  run_line("listops", "=1+1|{{data}}", 1, 0.3));
  const std::string page = report_page(read.summary, "</title><b>");
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(page.find("<b>&"), std::string::npos);
  EXPECT_NE(page.find("=1+1|{{data}}"), std::string::npos);
  EXPECT_NE(page.find("&lt;/title&gt;&lt;b&gt;"), std::string::npos);
  EXPECT_NE(csv_report(read.summary).find("\"'=1+1|{{data}}\""), std::string::npos);
  EXPECT_NE(markdown_report(read.summary, "t").find("=1+1\\|{{data}}"), std::string::npos);
}

TEST(ArenaSummaryTest, Figures) {
  EXPECT_EQ(percent(0.36374), "36.37");
  EXPECT_EQ(percent(NAN), "-");
  EXPECT_EQ(signed_points(-0.0123), "-1.23");
  EXPECT_EQ(p_value(0.0004), "< 0.001");
  EXPECT_EQ(p_value(0.0312), "0.031");
  EXPECT_EQ(p_value(0.5), "0.50");
  EXPECT_EQ(duration(12.345), "12.3 s");
  EXPECT_EQ(duration(59.99), "60 s");
  EXPECT_EQ(duration(181.2), "3 min 1 s");
  EXPECT_EQ(duration(9000), "2.5 h");
  EXPECT_EQ(duration(864000), "10.0 days");
  EXPECT_EQ(quantity(1234567), "1.23 M");
  EXPECT_EQ(quantity(999.7), "1.00 k");
  EXPECT_EQ(quantity(1.2e13), "12.0 T");
  EXPECT_EQ(whole(21019658), "21,019,658");
  EXPECT_EQ(whole(658), "658");
}

}  // namespace
}  // namespace linnet
