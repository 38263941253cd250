// report_tables.h -- the tables of a report, built once; page, Markdown and terminal only lay them
// out.
#pragma once

#include <string>
#include <vector>

#include "report/arena_summary.h"

namespace linnet {

struct ReportCell {
  std::string text;
  std::string source = {};  // where the figure comes from: seeds, commits, machines
  std::string link = {};    // an id of the page
  bool strong = false;
};

struct ReportColumn {
  std::string title;
  // On the page this column stands in small print below the one before it.
  bool below = false;
};

struct ReportTable {
  std::string title, note;
  std::vector<ReportColumn> columns;
  std::vector<std::vector<ReportCell>> rows;
};

// Columns of which nothing was measured are left out.
//
// Rows x tasks as the paper prints it: ours (mean), best, and the paper's.
ReportTable scores_table(const ArenaBoard& board);
// One task: seeds, deviation, interval, and the tests against the board's chosen row.
ReportTable task_table(const ArenaBoard& board, const ArenaTask& task);
ReportTable costs_table(const ArenaBoard& board, const ArenaTask& task);
// Every run, one line each.
ReportTable runs_table(const ArenaTask& task);
// What is missing, by task and row.
ReportTable missing_table(const ArenaBoard& board);
// What whole runs would take, by the steps that were measured.
ReportTable projections_table(const ArenaBoard& board);
// "118 of 135 runs are done; 17 are missing or failed and will take about 51 min one after
// another."
std::string progress_sentence(const ArenaBoard& board);

// The id of a cell's runs on the page.
std::string runs_id(const ArenaBoard& board, std::string_view task, std::string_view label);
// "Linear kernel", or a label as it is.
std::string label_title(const std::string& label);

}  // namespace linnet
