// report_tables.cpp -- picks the figures of every table.
#include "report/report_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "report/figures.h"
#include "report/paper_table.h"

namespace linnet {
namespace {

// "n = 5, seeds 1, 2, 3, 4, 5; commit abc1234; machine ...".
std::string source_of(const ArenaCell& cell) {
  std::vector<uint64_t> seeds;
  std::set<std::string> commits, machines;
  for (const RunRecord* run : cell.runs) {
    seeds.push_back(run->seed);
    if (!run->commit.empty()) commits.insert(run->commit);
    if (!run->machine.empty()) machines.insert(run->machine);
  }
  std::string text = fmt::format("n = {}, seeds {}", seeds.size(), fmt::join(seeds, ", "));
  if (!cell.failed.empty()) text += fmt::format("; {} failed", cell.failed.size());
  text += fmt::format(
      "; commit {}; {}", commits.empty() ? "?" : fmt::format("{}", fmt::join(commits, ", ")),
      machines.empty() ? "machine ?" : fmt::format("{}", fmt::join(machines, "; ")));
  return text;
}

double best_mean(const ArenaTask& task) {
  double best = -1;
  for (const ArenaCell& cell : task.cells) best = std::fmax(best, cell.mean);
  return best;
}

// Leaves out the columns that hold nothing but dashes; one with columns below it goes with the last
// of these.
void drop_unmeasured(ReportTable& table) {
  const auto empty = [&](size_t column) {
    return std::ranges::all_of(table.rows,
                               [&](const auto& row) { return row[column].text == "-"; });
  };
  const size_t last = table.columns.size() - 1;
  for (size_t column = last; column > 0; --column) {
    const bool bears = column < table.columns.size() - 1 && table.columns[column + 1].below;
    if (!empty(column) || bears) continue;
    table.columns.erase(table.columns.begin() + static_cast<long>(column));
    for (auto& row : table.rows) row.erase(row.begin() + static_cast<long>(column));
  }
}

}  // namespace

std::string runs_id(const ArenaBoard& board, std::string_view task, std::string_view label) {
  std::string id = "runs";
  for (const std::string_view part :
       {std::string_view(board.arena), std::string_view(board.profile), task, label}) {
    id += '-';
    // An injective spelling in letters that need no escape in a link.
    for (const char c : part) {
      if (std::isalnum(static_cast<unsigned char>(c)))
        id += c;
      else
        id += fmt::format("_{:02x}", static_cast<unsigned char>(c));
    }
  }
  return id;
}

std::string label_title(const std::string& label) {
  const size_t blank = label.find(' ');
  std::string title(row_title(label.substr(0, blank)));
  if (blank != label.npos) title += label.substr(blank);
  return title;
}

ReportTable scores_table(const ArenaBoard& board) {
  ReportTable table;
  table.title = board.arena == "table1" ? "Table 1" : "Arena " + board.arena;
  table.note = "Test accuracy in percent: mean over seeds, best seed";
  if (board.in_paper) table.note += fmt::format(", and the paper's figure ({})", kPaperSource);
  table.note += ". The best mean of a task is bold.";
  table.columns.push_back({"Model"});
  for (const ArenaTask& task : board.tasks) {
    table.columns.push_back({std::string(task_title(task.task))});
    table.columns.push_back({"best", true});
    table.columns.push_back({"paper", true});
  }
  for (const std::string& label : board.rows) {
    std::vector<ReportCell>& row = table.rows.emplace_back();
    row.push_back({label_title(label)});
    for (const ArenaTask& task : board.tasks) {
      const ArenaCell* cell = task.find(label);
      if (cell == nullptr) {
        row.push_back({"-", "no run yet"});
        row.push_back({"-"});
        row.push_back({percent(paper_accuracy(task.task, label))});
        continue;
      }
      row.push_back({percent(cell->mean), source_of(*cell), runs_id(board, task.task, label),
                     cell->mean == best_mean(task)});
      row.push_back({percent(cell->best)});
      row.push_back({percent(cell->paper)});
    }
  }
  drop_unmeasured(table);
  return table;
}

ReportTable task_table(const ArenaBoard& board, const ArenaTask& task) {
  ReportTable table;
  table.title = std::string(task_title(task.task)) + " in detail";
  table.note =
      "Mean, deviation over seeds (n - 1) and 95% bootstrap interval of the mean, in percent.";
  table.columns = {{"Model"}, {"mean"},         {"sd", true}, {"95%", true},     {"best"},
                   {"n"},     {"failed", true}, {"paper"},    {"to paper", true}};
  const bool tested = !board.against.empty() && task.find(board.against) != nullptr;
  if (tested) {
    table.note += fmt::format(
        " Difference to {} in points, seed by seed, with its 95% interval by Student's t; p: "
        "two-sided paired t test after Holm over the rows of this task, then as it came, then by "
        "the exact sign-flip test.",
        label_title(board.against));
    for (const ReportColumn& column :
         {ReportColumn{"difference"}, ReportColumn{"95%", true}, ReportColumn{"p (Holm)"},
          ReportColumn{"t", true}, ReportColumn{"exact", true}, ReportColumn{"verdict"}}) {
      table.columns.push_back(column);
    }
  }
  for (const ArenaCell& cell : task.cells) {
    table.rows.push_back({{label_title(cell.label)},
                          {percent(cell.mean), source_of(cell),
                           runs_id(board, task.task, cell.label), cell.mean == best_mean(task)},
                          {percent(cell.deviation)},
                          {percent_interval(cell.interval)},
                          {percent(cell.best)},
                          {fmt::format("{}", cell.runs.size())},
                          {fmt::format("{}", cell.failed.size())},
                          {percent(cell.paper)},
                          {signed_points(cell.mean - cell.paper)}});
    if (!tested) continue;
    std::vector<ReportCell>& row = table.rows.back();
    if (!cell.comparison) {
      for (int i = 0; i < 5; ++i) row.push_back({"-"});
      row.push_back({"compared with"});
      continue;
    }
    const auto& [test, p_holm, verdict] = *cell.comparison;
    row.push_back({signed_points(test.difference), fmt::format("{} seeds in common", test.n)});
    row.push_back({points_interval(test.interval)});
    row.push_back({p_value(p_holm)});
    row.push_back({p_value(test.p_t)});
    row.push_back({p_value(test.p_exact),
                   fmt::format("cannot be below {} at this n", p_value(test.smallest_exact))});
    row.push_back({verdict_text(verdict)});
  }
  drop_unmeasured(table);
  return table;
}

ReportTable costs_table(const ArenaBoard& board, const ArenaTask& task) {
  ReportTable table;
  table.title = "What it costs";
  table.note =
      "Means over runs: training time, steps, speed, peak memory; sums over all runs, failed ones "
      "too: time, tokens and floating-point operations.";
  table.columns = {{"Model"},   {"parameters"}, {"time a run"}, {"steps"}, {"tokens/s"},
                   {"peak MB"}, {"total time"}, {"tokens"},     {"FLOPs"}};
  for (const ArenaCell& cell : task.cells) {
    const CellCosts& costs = cell.costs;
    table.rows.push_back(
        {{label_title(cell.label)},
         {whole(costs.parameters), source_of(cell), runs_id(board, task.task, cell.label)},
         {duration(costs.seconds)},
         {whole(costs.steps)},
         {whole(costs.tokens_per_s)},
         {std::isnan(costs.peak_mb) ? "-" : fmt::format("{:.1f}", costs.peak_mb)},
         {duration(costs.all_seconds)},
         {quantity(costs.all_tokens)},
         {quantity(costs.all_flops)}});
  }
  drop_unmeasured(table);
  return table;
}

ReportTable runs_table(const ArenaTask& task) {
  ReportTable table;
  table.title = "Every run";
  table.columns = {{"Model"}, {"seed"},   {"test"},    {"validation"}, {"steps"},
                   {"time"},  {"commit"}, {"started"}, {"record"},     {"machine"}};
  for (const ArenaCell& cell : task.cells) {
    std::vector<const RunRecord*> runs = cell.runs;
    runs.insert(runs.end(), cell.failed.begin(), cell.failed.end());
    for (const RunRecord* run : runs) {
      std::vector<std::string> settings;
      for (const auto& [name, value] : run->settings) settings.push_back(name + " " + value);
      const std::string failure = run->error.empty() ? "failed" : "failed: " + run->error;
      table.rows.push_back(
          {{label_title(cell.label), fmt::format("settings: {}", fmt::join(settings, ", "))},
           {fmt::format("{}", run->seed)},
           {run->ok ? percent(run->test.accuracy) : failure},
           {percent(run->validation.accuracy)},
           {whole(run->steps)},
           {duration(run->seconds)},
           {run->commit},
           {run->started},
           {run->place},
           {run->machine}});
    }
  }
  return table;
}

ReportTable missing_table(const ArenaBoard& board) {
  ReportTable table;
  table.title = "What is missing";
  table.note = progress_sentence(board);
  table.columns = {{"Task"}, {"Model"}, {"seeds"}, {"failed"}, {"time"}};
  struct Gap {
    std::string task, row;
    std::vector<uint64_t> seeds;
    size_t failed = 0;
    double seconds = 0;
  };
  std::vector<Gap> gaps;
  for (const MissingRun& run : board.missing) {
    if (gaps.empty() || gaps.back().task != run.task || gaps.back().row != run.row)
      gaps.push_back({run.task, run.row, {}});
    gaps.back().seeds.push_back(run.seed);
    gaps.back().failed += run.failed;
    gaps.back().seconds += run.seconds;
  }
  for (const Gap& gap : gaps) {
    table.rows.push_back({{std::string(task_title(gap.task))},
                          {label_title(gap.row)},
                          {fmt::format("{}", fmt::join(gap.seeds, ", "))},
                          {fmt::format("{}", gap.failed)},
                          {duration(gap.seconds)}});
  }
  return table;
}

ReportTable projections_table(const ArenaBoard& board) {
  ReportTable table;
  table.title = "What whole runs would take";
  table.note =
      "Reckoned from some steps of each row at full size: a run is its steps and its looks at "
      "validation, at the speed that was measured.";
  table.columns = {{"Task"},        {"Model"},       {"a run"},         {"tokens/s"},
                   {"time a step"}, {"steps", true}, {"time a look"},   {"looks", true},
                   {"peak MB"},     {"parameters"},  {"measured steps"}};
  for (const RunProjection* p : board.projections) {
    const std::string source = fmt::format("commit {}; {}; {}", p->commit, p->machine, p->place);
    table.rows.push_back({{std::string(task_title(p->task))},
                          {label_title(p->row)},
                          {duration(p->seconds), source},
                          {whole(p->tokens_per_s), source},
                          {duration(p->step_seconds)},
                          {whole(p->steps)},
                          {duration(p->look_seconds)},
                          {whole(p->looks)},
                          {whole(p->peak_mb)},
                          {whole(p->parameters)},
                          {whole(p->measured_steps)}});
  }
  drop_unmeasured(table);
  return table;
}

std::string progress_sentence(const ArenaBoard& board) {
  const size_t missing = board.missing.size();
  if (missing == 0) return fmt::format("All {} planned runs are done.", board.planned_runs);
  double seconds = 0;
  size_t failed = 0, unknown = 0;
  for (const MissingRun& run : board.missing) {
    failed += run.failed;
    std::isnan(run.seconds) ? unknown += 1 : seconds += run.seconds;
  }
  std::string text =
      fmt::format("{} of {} planned runs are done; {} missing, {} failed. ",
                  board.planned_runs - missing, board.planned_runs, missing - failed, failed);
  if (unknown == missing) return text + "How long they take is not known yet.";
  text += fmt::format("They will take about {} one after another", duration(seconds));
  return text + (unknown > 0 ? fmt::format(", and {} runs of unknown length.", unknown) : ".");
}

}  // namespace linnet
