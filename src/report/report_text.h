// report_text.h -- the report for other programs and pages: Markdown, CSV, JSON lines.
#pragma once

#include <string>

#include "report/report_tables.h"

namespace linnet {

// The tables of the page, without its charts and its list of runs.
std::string markdown_report(const ArenaSummary& summary, const std::string& title);

// One line a cell, with a header; figures in full, accuracies as shares.
std::string csv_report(const ArenaSummary& summary);

// One object a line: a cell with the figures of csv_report and its runs; then the missing runs.
std::string json_report(const ArenaSummary& summary);

}  // namespace linnet
