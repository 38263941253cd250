// report_text.cpp -- Markdown from the tables; CSV and JSON lines from one list of fields.
#include "report/report_text.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/paper_table.h"

namespace linnet {
namespace {

using Json = nlohmann::ordered_json;

// What Markdown or the HTML in it could take for a sign of its own.
std::string markdown_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\|<>*_`[]#").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

void append_table(const ReportTable& table, std::string& out) {
  if (!table.note.empty()) out += markdown_text(table.note) + "\n\n";
  out += '|';
  for (const ReportColumn& column : table.columns) out += " " + column.title + " |";
  out += "\n|";
  for (size_t i = 0; i < table.columns.size(); ++i) out += i == 0 ? " --- |" : " ---: |";
  out += '\n';
  for (const auto& row : table.rows) {
    out += '|';
    for (const ReportCell& cell : row) {
      const std::string text = markdown_text(cell.text);
      out += " " + (cell.strong ? "**" + text + "**" : text) + " |";
    }
    out += '\n';
  }
  out += '\n';
}

// NaN has no form in JSON.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

// Every figure of a cell, flat, under the names of the CSV's columns.
Json cell_fields(const ArenaBoard& board, const ArenaTask& task, const ArenaCell& cell) {
  Json json;
  json["arena"] = board.arena;
  json["profile"] = board.profile;
  json["task"] = task.task;
  json["row"] = cell.label;
  json["n"] = cell.runs.size();
  json["failed"] = cell.failed.size();
  json["mean"] = number(cell.mean);
  json["best"] = number(cell.best);
  json["deviation"] = number(cell.deviation);
  json["low"] = number(cell.interval.low);
  json["high"] = number(cell.interval.high);
  json["paper"] = number(cell.paper);
  const bool tested = cell.comparison.has_value();
  const PairedTest test = tested ? cell.comparison->test : paired_test({});
  json["against"] = tested ? Json(board.against) : Json();
  json["pairs"] = tested ? Json(test.n) : Json();
  json["difference"] = number(test.difference);
  json["difference_low"] = number(test.interval.low);
  json["difference_high"] = number(test.interval.high);
  json["p_t"] = number(test.p_t);
  json["p_holm"] = tested ? number(cell.comparison->p_holm) : Json();
  json["p_exact"] = number(test.p_exact);
  json["verdict"] = tested ? Json(verdict_text(cell.comparison->verdict)) : Json();
  json["parameters"] = number(cell.costs.parameters);
  json["seconds"] = number(cell.costs.seconds);
  json["steps"] = number(cell.costs.steps);
  json["tokens_per_s"] = number(cell.costs.tokens_per_s);
  json["peak_mb"] = number(cell.costs.peak_mb);
  json["all_seconds"] = number(cell.costs.all_seconds);
  json["all_tokens"] = number(cell.costs.all_tokens);
  json["all_flops"] = number(cell.costs.all_flops);
  return json;
}

std::string csv_field(const Json& value) {
  if (value.is_null()) return "";
  if (!value.is_string()) return value.dump();
  std::string text = value.get<std::string>();
  // A spreadsheet would take these for a formula.
  if (!text.empty() && std::string_view("=+-@").find(text[0]) != std::string_view::npos)
    text.insert(0, 1, '\'');
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

template <class Visit>
void for_each_cell(const ArenaSummary& summary, Visit visit) {
  for (const ArenaBoard& board : summary.boards) {
    for (const ArenaTask& task : board.tasks) {
      for (const ArenaCell& cell : task.cells) visit(board, task, cell);
    }
  }
}

}  // namespace

std::string markdown_report(const ArenaSummary& summary, const std::string& title) {
  std::string out = fmt::format("# {}\n\n{} runs, {} failed.\n\n", markdown_text(title),
                                summary.runs, summary.failed);
  for (const std::string& note : summary.notes) out += "- " + markdown_text(note) + "\n";
  for (const ArenaBoard& board : summary.boards) {
    const ReportTable scores = scores_table(board);
    out += fmt::format("## {}{}\n\n", markdown_text(scores.title),
                       board.profile.empty() ? "" : ", profile " + markdown_text(board.profile));
    append_table(scores, out);
    for (const std::string& note : board.notes) out += "- " + markdown_text(note) + "\n";
    if (board.planned) {
      out += "\n## What is missing\n\n";
      if (board.missing.empty())
        out += progress_sentence(board) + "\n\n";
      else
        append_table(missing_table(board), out);
    }
    if (!board.projections.empty()) {
      const ReportTable projections = projections_table(board);
      out += fmt::format("\n## {}\n\n", projections.title);
      append_table(projections, out);
    }
    for (const ArenaTask& task : board.tasks) {
      if (task.cells.empty()) continue;
      out += fmt::format("\n## {}\n\n", markdown_text(task_title(task.task)));
      append_table(task_table(board, task), out);
      for (const ReferenceScore& reference : task.references)
        out +=
            fmt::format("- {}: {:.2f}\n", markdown_text(reference.name), reference.accuracy * 100);
      out += "\n### What it costs\n\n";
      append_table(costs_table(board, task), out);
    }
  }
  return out;
}

std::string csv_report(const ArenaSummary& summary) {
  std::string out;
  for_each_cell(summary,
                [&](const ArenaBoard& board, const ArenaTask& task, const ArenaCell& cell) {
                  const Json fields = cell_fields(board, task, cell);
                  std::string header, line;
                  for (const auto& [name, value] : fields.items()) {
                    header += (header.empty() ? "" : ",") + name;
                    line += (line.empty() ? "" : ",") + csv_field(value);
                  }
                  if (out.empty()) out = header + "\n";
                  out += line + "\n";
                });
  return out;
}

std::string json_report(const ArenaSummary& summary) {
  std::string out;
  for_each_cell(summary,
                [&](const ArenaBoard& board, const ArenaTask& task, const ArenaCell& cell) {
                  Json json = cell_fields(board, task, cell);
                  json["runs"] = Json::array();
                  for (const RunRecord* run : cell.runs)
                    json["runs"].push_back({{"seed", run->seed},
                                            {"accuracy", run->test.accuracy},
                                            {"commit", run->commit},
                                            {"machine", run->machine},
                                            {"record", run->place}});
                  out += json.dump() + "\n";
                });
  for (const ArenaBoard& board : summary.boards) {
    for (const MissingRun& run : board.missing) {
      out += Json{{"missing", board.arena},
                  {"profile", board.profile},
                  {"task", run.task},
                  {"row", run.row},
                  {"seed", run.seed},
                  {"failed", run.failed},
                  {"seconds", number(run.seconds)}}
                 .dump() +
             "\n";
    }
  }
  return out;
}

}  // namespace linnet
