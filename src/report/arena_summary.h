// arena_summary.h -- run records gathered: boards of rows x tasks with statistics, tests, costs and
// what is missing.
//
// A board is one arena with one profile. A cell is the runs of one row on one task with equal
// settings but for the seed; a row with several settings is several rows, named by what differs.
// Accuracies are on the test split, 0 .. 1. Failed runs are counted, never averaged.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/run_records.h"
#include "report/statistics.h"

namespace linnet {

struct CellComparison {
  PairedTest test;
  double p_holm;
  Verdict verdict;
};

struct CellCosts {
  // NaN when no run measured it. Means over the runs that ended well:
  double seconds, steps, tokens_per_s, peak_mb, parameters;
  // Sums over all runs, failed ones too:
  double all_seconds, all_tokens, all_flops;
};

struct ArenaCell {
  std::string row, label;  // label: the row, and its settings where there are several
  std::vector<const RunRecord*> runs, failed;  // by seed
  double mean, best, deviation, paper;
  Interval interval;
  CellCosts costs;
  std::optional<CellComparison> comparison;
};

struct ArenaTask {
  std::string task;
  std::vector<ArenaCell> cells;  // in the order of the board's rows; rows without runs are left out
  std::vector<ReferenceScore> references;
  const ArenaCell* find(std::string_view label) const;
};

struct MissingRun {
  std::string task, row;
  uint64_t seed;
  bool failed;  // it was tried
  // What it will take: mean of its cell, else the plan's, else projected, else of its task.
  double seconds;
};

struct ArenaBoard {
  std::string arena, profile;
  std::vector<std::string> rows;  // labels
  std::vector<ArenaTask> tasks;
  std::string against;    // the label that the others are tested against; empty: no tests
  bool in_paper = false;  // the paper has figures of some of its cells
  bool planned = false;
  size_t planned_runs = 0;
  std::vector<MissingRun> missing;
  std::vector<const RunProjection*> projections;  // by task and row
  std::vector<std::string> notes;  // what a careful reader must know, one sentence each
};

struct ArenaSummary {
  std::vector<ArenaBoard> boards;
  std::vector<LengthPoint> lengths;
  size_t runs = 0, failed = 0;
  std::vector<std::string> notes;
};

// `against` is a row or label; empty is "transformer" where there is one. The summary points into
// `records`.
ArenaSummary summarize(const RunRecords& records, const std::string& against);

}  // namespace linnet
