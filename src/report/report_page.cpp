// report_page.cpp -- lays the tables out as HTML and fills page/page.html.
#include "report/report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.h"
#include "report/chart_data.h"
#include "report/page_assets.h"
#include "report/paper_table.h"
#include "report/report_tables.h"

namespace linnet {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string attribute(const char* name, const std::string& value) {
  return value.empty() ? "" : fmt::format(" {}=\"{}\"", name, escaped(value));
}

// A figure with its source as a tooltip and a link to its runs.
std::string figure_html(const ReportCell& cell) {
  std::string text = escaped(cell.text);
  if (cell.strong) text = "<strong>" + text + "</strong>";
  if (!cell.link.empty()) return fmt::format("<a href=\"#{}\">{}</a>", cell.link, text);
  return text;
}

// Columns that are marked `below` go as small lines into the cell before them.
std::string table_html(const ReportTable& table, const std::string& css_class) {
  std::string out = "<div class=\"scroll\"><table class=\"" + css_class + "\"><thead><tr>";
  for (const ReportColumn& column : table.columns) {
    if (!column.below) out += "<th scope=\"col\">" + escaped(column.title) + "</th>";
  }
  out += "</tr></thead><tbody>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (size_t i = 0; i < row.size(); ++i) {
      if (table.columns[i].below) {
        if (row[i].text != "-")
          out += fmt::format("<small{}>{} <b>{}</b></small>", attribute("title", row[i].source),
                             escaped(table.columns[i].title), figure_html(row[i]));
      } else {
        out += i == 0 ? "<th scope=\"row\"" : "<td";
        out += attribute("title", row[i].source) + ">" + figure_html(row[i]);
      }
      const bool last = i + 1 == row.size() || !table.columns[i + 1].below;
      if (last) out += i == 0 ? "</th>" : "</td>";
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string note_html(const std::string& note) {
  return note.empty() ? "" : "<p class=\"note\">" + escaped(note) + "</p>\n";
}

std::string section_html(const ReportTable& table, const std::string& css_class) {
  return "<h3>" + escaped(table.title) + "</h3>\n" + note_html(table.note) +
         table_html(table, css_class);
}

std::string notes_html(const std::vector<std::string>& notes) {
  std::string out;
  for (const std::string& note : notes) out += "<li>" + escaped(note) + "</li>";
  return out.empty() ? "" : "<ul class=\"warnings\">" + out + "</ul>\n";
}

struct Chart {
  const char *kind, *title, *about;
};

std::string chart_html(const Chart& chart, size_t board, size_t task, std::string_view task_name) {
  return fmt::format(
      "<figure class=\"chart {0}\"><figcaption>{1}<small>{2}</small></figcaption><div "
      "class=\"canvas\"><canvas role=\"img\" data-chart=\"{0}\" data-board=\"{3}\" "
      "data-task=\"{4}\" aria-label=\"{1}, {5}\"></canvas></div></figure>\n",
      chart.kind, chart.title, chart.about, board, task, escaped(task_name));
}

constexpr Chart kTaskCharts[] = {
    {"dots", "Test accuracy", "each seed, and the mean with its 95% interval"},
    {"curves", "Learning curves", "validation; line: mean, band: lowest to highest seed"},
    {"time", "Accuracy against training time", "mean of the seeds, 95% interval"},
    {"size", "Accuracy against parameters", "mean of the seeds, 95% interval"},
};
constexpr Chart kBoardCharts[] = {
    {"speed", "Training speed", "mean over runs; longer is better"},
    {"memory", "Peak memory", "mean over runs; shorter is better"},
};

// For inference and for training.
constexpr Chart kLengthCharts[] = {
    {"pace", "Time a token", "one sequence on one thread; lower is better"},
    {"room", "Peak memory", "of the same; lower is better"},
};

// The list of runs, with an id at the first of each cell.
std::string runs_html(const ArenaBoard& board, const ArenaTask& task) {
  const ReportTable table = runs_table(task);
  std::string html = table_html(table, "runs");
  size_t at = html.find("<tbody>");
  for (const ArenaCell& cell : task.cells) {
    at = html.find("<tr>", at);
    html.insert(at + 3, " id=\"" + runs_id(board, task.task, cell.label) + "\"");
    for (size_t i = 0; i < cell.runs.size() + cell.failed.size(); ++i)
      at = html.find("</tr>", at) + 1;
  }
  return fmt::format("<details class=\"all-runs\"><summary>{} ({})</summary>\n{}</details>\n",
                     table.title, table.rows.size(), html);
}

bool has_figures(const ArenaTask& task) {
  return std::ranges::any_of(task.cells, [](const ArenaCell& cell) { return !cell.runs.empty(); });
}

bool has_speed(const ArenaTask& task) {
  return std::ranges::any_of(task.cells, [](const ArenaCell& cell) {
    return !std::isnan(cell.costs.tokens_per_s) || !std::isnan(cell.costs.peak_mb);
  });
}

// " (table1, desk)" where there are several boards, so that headings tell which one they are of.
std::string board_suffix(const ArenaSummary& summary, const ArenaBoard& board) {
  return summary.boards.size() < 2 ? "" : fmt::format(" ({}, {})", board.arena, board.profile);
}

std::string task_html(const ArenaSummary& summary, size_t board_number, size_t task_number) {
  const ArenaBoard& board = summary.boards[board_number];
  const ArenaTask& task = board.tasks[task_number];
  const std::string title = std::string(task_title(task.task)) + board_suffix(summary, board);
  std::string out = fmt::format("<section id=\"task-{}-{}\"><h2>{}</h2>\n", board_number,
                                task_number, escaped(title));
  if (task.cells.empty()) return out + "<p class=\"note\">No run yet.</p></section>\n";
  if (has_figures(task)) {
    out += "<div class=\"charts\">";
    for (const Chart& chart : kTaskCharts)
      out += chart_html(chart, board_number, task_number, title);
    out += "</div>\n";
  }
  out += section_html(task_table(board, task), board.against.empty() ? "" : "tested");
  out += section_html(costs_table(board, task), "costs");
  return out + runs_html(board, task) + "</section>\n";
}

std::string missing_html(const ArenaBoard& board) {
  if (!board.planned) return "";
  const size_t done = board.planned_runs - board.missing.size();
  std::string out = fmt::format(
      "<section class=\"progress\"><h2>What is missing</h2>\n<progress max=\"{}\" "
      "value=\"{}\"></progress>\n",
      std::max<size_t>(board.planned_runs, 1), done);
  const ReportTable table = missing_table(board);
  out += note_html(table.note);
  if (!board.missing.empty())
    out += "<details><summary>By task and model</summary>" + table_html(table, "missing") +
           "</details>\n";
  return out + "</section>\n";
}

std::string projections_html(const ArenaBoard& board) {
  if (board.projections.empty()) return "";
  const ReportTable table = projections_table(board);
  return "<section class=\"projections\"><h2>" + escaped(table.title) + "</h2>\n" +
         note_html(table.note) + table_html(table, "costs") + "</section>\n";
}

std::string board_html(const ArenaSummary& summary, size_t number) {
  const ArenaBoard& board = summary.boards[number];
  const ReportTable scores = scores_table(board);
  std::string title = scores.title;
  if (!board.profile.empty()) title += ", profile " + board.profile;
  std::string out = fmt::format("<section id=\"board-{}\"><h2>{}</h2>\n", number, escaped(title));
  out += note_html(scores.note) + table_html(scores, "scores") + notes_html(board.notes);
  out += "</section>\n" + missing_html(board) + projections_html(board);
  for (size_t task = 0; task < board.tasks.size(); ++task) out += task_html(summary, number, task);
  if (std::ranges::none_of(board.tasks, has_speed)) return out;
  out += fmt::format("<section id=\"costs-{}\"><h2>Speed and memory{}</h2>\n<div class=\"charts\">",
                     number, escaped(board_suffix(summary, board)));
  for (const Chart& chart : kBoardCharts) out += chart_html(chart, number, 0, "all tasks");
  return out + "</div></section>\n";
}

std::string lengths_html(const ArenaSummary& summary) {
  if (summary.lengths.empty()) return "";
  std::string out = "<section id=\"lengths\"><h2>Speed and memory over the length</h2>\n";
  for (const size_t mode : {0, 1}) {
    const std::string title = mode == 0 ? "Inference" : "Training";
    out += "<h3>" + title + "</h3>\n<div class=\"charts\">";
    for (const Chart& chart : kLengthCharts) out += chart_html(chart, 0, mode, title);
    out += "</div>\n";
  }
  return out + "</section>\n";
}

std::string navigation_html(const ArenaSummary& summary) {
  std::string out;
  for (size_t b = 0; b < summary.boards.size(); ++b) {
    const ArenaBoard& board = summary.boards[b];
    const std::string title = scores_table(board).title + board_suffix(summary, board);
    out += fmt::format("<a href=\"#board-{}\">{}</a>", b, escaped(title));
    for (size_t t = 0; t < board.tasks.size(); ++t)
      out += fmt::format("<a href=\"#task-{}-{}\">{}</a>", b, t,
                         escaped(task_title(board.tasks[t].task)));
    if (std::ranges::any_of(board.tasks, has_speed))
      out += fmt::format("<a href=\"#costs-{}\">Speed and memory</a>", b);
  }
  if (!summary.lengths.empty()) out += "<a href=\"#lengths\">Over the length</a>";
  return out + "<a href=\"#reading\">How to read it</a>";
}

// "132 runs, 3 failed; 2026-11-14 to 2026-11-16; commit abc1234".
std::string subtitle(const ArenaSummary& summary) {
  std::set<std::string> days, commits;
  for (const ArenaBoard& board : summary.boards) {
    for (const ArenaTask& task : board.tasks) {
      for (const ArenaCell& cell : task.cells) {
        for (const RunRecord* run : cell.runs) {
          // A foreign text may be no time: whole, since a cut could be within a character.
          if (!run->started.empty()) days.insert(run->started.substr(0, run->started.find('T')));
          if (!run->commit.empty()) commits.insert(run->commit);
        }
      }
    }
  }
  std::string text = fmt::format("{} runs, {} failed", summary.runs, summary.failed);
  if (!days.empty()) text += ", of " + *days.begin();
  if (days.size() > 1) text += " to " + *days.rbegin();
  if (!commits.empty())
    text += fmt::format(", commit{} {}", commits.size() == 1 ? "" : "s", fmt::join(commits, ", "));
  return text;
}

// JSON inside a script element: no "</script>" and no "<!--" can be in it.
std::string script_json(const nlohmann::ordered_json& json) {
  std::string out;
  for (const char c : json.dump()) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

}  // namespace

std::string report_page(const ArenaSummary& summary, const std::string& title) {
  std::string boards;
  for (size_t i = 0; i < summary.boards.size(); ++i) boards += board_html(summary, i);
  boards += lengths_html(summary);
  const std::pair<std::string_view, std::string> parts[] = {
      {"title", escaped(title)},
      {"subtitle", escaped(subtitle(summary))},
      {"navigation", navigation_html(summary)},
      {"notes", notes_html(summary.notes)},
      {"boards", boards},
      {"data", script_json(chart_data(summary))},
      {"css", fmt::format("{}{}", kPageCss, kTablesCss)},
      {"scripts", fmt::format("<script>{}</script>\n<script>{}{}{}</script>", kChartLibraryJs,
                              kThemeJs, kDrawingJs, kChartsJs)},
  };
  // One pass, so that a mark inside a part stays text.
  std::string out;
  std::string_view rest = kPageHtml;
  for (size_t mark; (mark = rest.find("{{")) != rest.npos;) {
    out += rest.substr(0, mark);
    const size_t end = rest.find("}}", mark);
    const std::string_view name = rest.substr(mark + 2, end - mark - 2);
    const auto part =
        std::ranges::find(parts, name, &std::pair<std::string_view, std::string>::first);
    LINNET_ASSERT(part != std::end(parts));
    out += part->second;
    rest.remove_prefix(end + 2);
  }
  return out.append(rest);
}

}  // namespace linnet
