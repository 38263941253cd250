// arena_summary.cpp -- groups the runs, then fills every cell.
#include "report/arena_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.h"
#include "core/file.h"
#include "report/missing_runs.h"
#include "report/paper_table.h"

namespace linnet {
namespace {

using Settings = std::map<std::string, std::string>;

void add_once(std::vector<std::string>& list, const std::string& item) {
  if (std::ranges::find(list, item) == list.end()) list.push_back(item);
}

// Names of the paper come first, in its order; others stay as they came.
template <class Known>
void paper_order_first(std::vector<std::string>& names, const Known& known) {
  const auto rank = [&](const std::string& name) {
    // A label is a row, or a row with a blank and settings behind it.
    const std::string row = name.substr(0, name.find(' '));
    return std::ranges::find(known, row) - known.begin();
  };
  std::ranges::stable_sort(names, {}, rank);
}

template <class Field>
std::vector<double> measured(const std::vector<const RunRecord*>& runs, Field field) {
  std::vector<double> values;
  for (const RunRecord* run : runs) {
    if (const double value = field(*run); !std::isnan(value)) values.push_back(value);
  }
  return values;
}

double sum_of(const std::vector<double>& values) {
  if (values.empty()) return kNotMeasured;
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

void fill_cell(ArenaCell& cell, std::string_view task) {
  const auto by_seed = [](const RunRecord* run) { return run->seed; };
  std::ranges::stable_sort(cell.runs, {}, by_seed);
  std::ranges::stable_sort(cell.failed, {}, by_seed);
  const auto accuracy = measured(cell.runs, [](const RunRecord& run) { return run.test.accuracy; });
  cell.mean = mean_of(accuracy);
  cell.best = accuracy.empty() ? kNotMeasured : *std::ranges::max_element(accuracy);
  cell.deviation = deviation_of(accuracy);
  cell.interval = bootstrap_interval(accuracy);
  cell.paper = paper_accuracy(task, cell.row);
  const auto mean = [&](double RunRecord::*field) {
    return mean_of(measured(cell.runs, [&](const RunRecord& run) { return run.*field; }));
  };
  std::vector<const RunRecord*> all = cell.runs;
  all.insert(all.end(), cell.failed.begin(), cell.failed.end());
  const auto sum = [&](double RunRecord::*field) {
    return sum_of(measured(all, [&](const RunRecord& run) { return run.*field; }));
  };
  cell.costs = {mean(&RunRecord::seconds),      mean(&RunRecord::steps),
                mean(&RunRecord::tokens_per_s), mean(&RunRecord::peak_mb),
                mean(&RunRecord::parameters),   sum(&RunRecord::seconds),
                sum(&RunRecord::tokens),        sum(&RunRecord::flops)};
}

// "lr 0.01, warmup 100": the settings that are not the same in all of `several`.
std::string differing(const Settings& one, const std::set<Settings>& several) {
  std::string text;
  for (const auto& setting : one) {
    const bool same = std::ranges::all_of(several, [&](const Settings& other) {
      const auto it = other.find(setting.first);
      return it != other.end() && it->second == setting.second;
    });
    if (same) continue;
    text += (text.empty() ? "" : ", ") + setting.first + " " + printable(setting.second, 40);
  }
  return text.empty() ? "other settings" : text;
}

// A name for each of the settings of a row.
std::map<Settings, std::string> labels_of(const std::string& row,
                                          const std::set<Settings>& several) {
  std::map<Settings, std::string> labels;
  std::set<std::string> taken;
  for (const Settings& one : several) {
    std::string label = several.size() == 1 ? row : row + " (" + differing(one, several) + ")";
    // Long values are cut, so two can read alike.
    for (int k = 2; !taken.insert(label).second; ++k)
      label = fmt::format("{} ({}) #{}", row, differing(one, several), k);
    labels[one] = label;
  }
  return labels;
}

// The cells of one task, not yet filled.
std::vector<ArenaCell> group_runs(const std::vector<const RunRecord*>& runs) {
  std::map<std::string, std::set<Settings>> settings;
  for (const RunRecord* run : runs) settings[run->row].insert(run->settings);
  std::map<std::string, std::map<Settings, std::string>> labels;
  for (const auto& [row, several] : settings) labels[row] = labels_of(row, several);
  std::vector<ArenaCell> cells;
  for (const RunRecord* run : runs) {
    const std::string& label = labels[run->row][run->settings];
    auto cell = std::ranges::find(cells, label, &ArenaCell::label);
    if (cell == cells.end()) {
      cells.emplace_back();
      cell = cells.end() - 1;
      cell->row = run->row;
      cell->label = label;
    }
    (run->ok ? cell->runs : cell->failed).push_back(run);
  }
  return cells;
}

std::string pick_against(const ArenaBoard& board, const std::vector<std::string>& rows_of_labels,
                         const std::string& asked) {
  const std::string wanted = asked.empty() ? "transformer" : asked;
  std::vector<std::string> found;
  for (size_t i = 0; i < board.rows.size(); ++i) {
    if (rows_of_labels[i].empty()) continue;  // planned or projected, without a run
    if (board.rows[i] == wanted) return wanted;
    if (rows_of_labels[i] == wanted) found.push_back(board.rows[i]);
  }
  if (found.size() > 1 && !asked.empty()) {
    throw Error(fmt::format("[--against] \"{}\" has several settings: {}", printable(asked),
                            fmt::join(found, ", ")));
  }
  if (found.size() == 1) return found[0];
  return found.empty() && std::ranges::find(board.rows, wanted) != board.rows.end() ? wanted : "";
}

void compare(ArenaTask& task, const std::string& against) {
  const ArenaCell* base = task.find(against);
  if (base == nullptr) return;
  std::vector<double> p;
  for (ArenaCell& cell : task.cells) {
    if (&cell == base) continue;
    std::vector<double> differences;
    for (const RunRecord* run : cell.runs) {
      const auto twin = std::ranges::find(base->runs, run->seed, &RunRecord::seed);
      if (twin != base->runs.end())
        differences.push_back(run->test.accuracy - (*twin)->test.accuracy);
    }
    cell.comparison = {paired_test(differences), kNotMeasured, Verdict::kUntested};
    p.push_back(cell.comparison->test.p_t);
  }
  const std::vector<double> corrected = holm(p);
  size_t next = 0;
  for (ArenaCell& cell : task.cells) {
    if (!cell.comparison) continue;
    cell.comparison->p_holm = corrected[next++];
    cell.comparison->verdict = verdict_of(cell.comparison->test, cell.comparison->p_holm);
  }
}

void add_notes(ArenaBoard& board) {
  size_t failed = 0, fewest = SIZE_MAX;
  std::set<std::string> commits, machines;
  for (const ArenaTask& task : board.tasks) {
    for (const ArenaCell& cell : task.cells) {
      failed += cell.failed.size();
      if (cell.comparison) fewest = std::min(fewest, cell.comparison->test.n);
      for (const RunRecord* run : cell.runs) {
        commits.insert(run->commit);
        machines.insert(run->machine);
      }
    }
  }
  if (fewest < 6) {
    board.notes.push_back(fmt::format(
        "Some rows have only {} seed{} in common with {}: below 6 the exact test cannot reach "
        "0.05, so a difference that is shown there rests on the differences being normal, and the "
        "absence of one tells nothing.",
        fewest, fewest == 1 ? "" : "s", board.against));
  }
  if (failed > 0) {
    board.notes.push_back(
        fmt::format("{} failed run{} counted and listed, but in no mean: a row that fails often "
                    "looks better than it is.",
                    failed, failed == 1 ? " is" : "s are"));
  }
  if (commits.size() > 1)
    board.notes.push_back(fmt::format("The runs come from {} commits: {}.", commits.size(),
                                      fmt::join(commits, ", ")));
  if (machines.size() > 1)
    board.notes.push_back(fmt::format(
        "The runs come from {} machines, so their speeds do not compare.", machines.size()));
  if (board.in_paper && board.profile != "paper") {
    board.notes.push_back(fmt::format(
        "The profile is \"{}\", not the paper's sizes and steps: the paper's figures are there for "
        "orientation.",
        board.profile));
  }
}

ArenaBoard make_board(const RunRecords& records, const std::string& arena,
                      const std::string& profile, const ArenaPlan* plan,
                      const std::string& against) {
  ArenaBoard board;
  board.arena = arena;
  board.profile = profile;
  std::vector<std::string> tasks;
  std::map<std::string, std::vector<const RunRecord*>> runs;
  if (plan != nullptr) tasks = plan->tasks;
  for (const RunRecord& run : records.runs) {
    if (run.arena != arena || run.profile != profile) continue;
    add_once(tasks, run.task);
    runs[run.task].push_back(&run);
  }
  for (const RunProjection& projection : records.projections) {
    if (projection.arena != arena || projection.profile != profile) continue;
    add_once(tasks, projection.task);
    add_once(board.rows, projection.row);
    board.projections.push_back(&projection);
  }
  std::vector<std::string_view> names;
  for (const PaperTask& task : paper_tasks()) names.push_back(task.task);
  paper_order_first(tasks, names);
  std::map<std::string, std::string> row_of;
  if (plan != nullptr) {
    for (const std::string& row : plan->rows) add_once(board.rows, row);
  }
  for (const std::string& name : tasks) {
    ArenaTask& task = board.tasks.emplace_back();
    task.task = name;
    task.cells = group_runs(runs[name]);
    for (const ReferenceScore& reference : records.references) {
      if (reference.task == name) task.references.push_back(reference);
    }
    for (ArenaCell& cell : task.cells) {
      add_once(board.rows, cell.label);
      row_of[cell.label] = cell.row;
      fill_cell(cell, name);
      board.in_paper = board.in_paper || !std::isnan(cell.paper);
    }
  }
  // A planned row whose runs all stand under their settings has none of its own.
  std::erase_if(board.rows, [&](const std::string& row) {
    return !row_of.contains(row) &&
           std::ranges::any_of(row_of, [&](const auto& entry) { return entry.second == row; });
  });
  names.clear();
  for (const PaperRow& row : paper_rows()) names.push_back(row.row);
  paper_order_first(board.rows, names);
  for (ArenaTask& task : board.tasks) {
    std::ranges::sort(task.cells, {}, [&](const ArenaCell& cell) {
      return std::ranges::find(board.rows, cell.label) - board.rows.begin();
    });
  }
  std::ranges::stable_sort(board.projections, {}, [&](const RunProjection* projection) {
    return std::pair(
        std::ranges::find(board.tasks, projection->task, &ArenaTask::task) - board.tasks.begin(),
        std::ranges::find(board.rows, projection->row) - board.rows.begin());
  });
  std::vector<std::string> rows_of_labels;
  for (const std::string& label : board.rows) rows_of_labels.push_back(row_of[label]);
  board.against = pick_against(board, rows_of_labels, against);
  for (ArenaTask& task : board.tasks) compare(task, board.against);
  if (plan != nullptr) find_missing(board, *plan);
  add_notes(board);
  return board;
}

}  // namespace

const ArenaCell* ArenaTask::find(std::string_view label) const {
  const auto it = std::ranges::find(cells, label, &ArenaCell::label);
  return it == cells.end() ? nullptr : &*it;
}

ArenaSummary summarize(const RunRecords& records, const std::string& against) {
  if (records.runs.empty() && records.plans.empty() && records.projections.empty() &&
      records.lengths.empty())
    throw Error("[report] the files hold no runs and no plan");
  std::vector<std::pair<std::string, std::string>> boards;
  const auto add_board = [&](const std::string& arena, const std::string& profile) {
    const std::pair key(arena, profile);
    if (std::ranges::find(boards, key) == boards.end()) boards.push_back(key);
  };
  for (const RunRecord& run : records.runs) add_board(run.arena, run.profile);
  for (const RunProjection& p : records.projections) add_board(p.arena, p.profile);
  const auto covers = [](const ArenaPlan& plan, const auto& board) {
    return plan.arena == board.first && (plan.profile.empty() || plan.profile == board.second);
  };
  for (const ArenaPlan& plan : records.plans) {
    if (std::ranges::none_of(boards, [&](const auto& board) { return covers(plan, board); }))
      add_board(plan.arena, plan.profile);
  }
  ArenaSummary summary;
  for (const auto& board : boards) {
    const ArenaPlan* plan = nullptr;
    for (const ArenaPlan& candidate : records.plans) {
      if (covers(candidate, board)) plan = &candidate;
    }
    summary.boards.push_back(make_board(records, board.first, board.second, plan, against));
  }
  summary.lengths = records.lengths;
  if (!against.empty() && !summary.boards.empty() &&
      std::ranges::all_of(summary.boards, &std::string::empty, &ArenaBoard::against)) {
    throw Error(fmt::format("[--against] no such row: \"{}\"; there are: {}", printable(against),
                            fmt::join(summary.boards[0].rows, ", ")));
  }
  summary.runs = records.runs.size();
  summary.failed = static_cast<size_t>(
      std::ranges::count_if(records.runs, [](const RunRecord& run) { return !run.ok; }));
  summary.notes = records.notes;
  return summary;
}

}  // namespace linnet
