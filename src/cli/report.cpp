// report.cpp -- linnet report: runs of arenas as a page, as Markdown, CSV, JSON, or in the
// terminal.
#include <fmt/format.h>

#include <optional>

#include "cli/output_file.h"
#include "cli/streams.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "core/error.h"
#include "core/file.h"
#include "report/report_page.h"
#include "report/report_text.h"
#include "train/run_identity.h"

namespace linnet {
namespace {

struct Options {
  std::vector<std::filesystem::path> files;
  std::string out, markdown, csv, against, title = "Arena report";
  bool json = false;
};

void print_table(const ReportTable& table) {
  std::vector<std::vector<std::string>> rows(1);
  for (const ReportColumn& column : table.columns) rows[0].push_back(column.title);
  for (const auto& cells : table.rows) {
    rows.emplace_back();
    for (const ReportCell& cell : cells) rows.back().push_back(cell.text);
  }
  print_out("{}\n", table.title);
  write_out(format_table(rows) + "\n");
}

void print_summary(const ArenaSummary& summary) {
  for (const ArenaBoard& board : summary.boards) {
    print_table(scores_table(board));
    for (const ArenaTask& task : board.tasks) {
      if (!task.cells.empty()) print_table(task_table(board, task));
    }
    if (!board.projections.empty()) print_table(projections_table(board));
    if (board.planned) print_out("{}\n", progress_sentence(board));
    for (const std::string& note : board.notes) print_out("Note: {}\n", note);
  }
  for (const std::string& note : summary.notes) print_out("Note: {}\n", note);
}

// A file that a flag asks for, opened before the records are read; or none.
class Output {
 public:
  explicit Output(const std::string& path) : path_(path) {
    if (!path.empty()) file_.emplace(path);
  }
  bool wanted() const { return file_.has_value(); }
  void write(const std::string& content) {
    file_->write(content);
    file_->close();
    if (path_ != "-")
      print_note("{}: {} bytes\n", place_of(path_),
                 with_commas(static_cast<int64_t>(content.size())));
  }

 private:
  std::string path_;
  std::optional<OutputFile> file_;
};

void run(const Options& options) {
  Output page(options.out), markdown(options.markdown), csv(options.csv);
  const RunRecords records = read_run_records(options.files, with_defaults);
  const ArenaSummary summary = summarize(records, options.against);
  if (page.wanted()) page.write(report_page(summary, options.title));
  if (markdown.wanted()) markdown.write(markdown_report(summary, options.title));
  if (csv.wanted()) csv.write(csv_report(summary));
  const bool to_stdout = options.out == "-" || options.markdown == "-" || options.csv == "-";
  if (options.json) {
    write_out(json_report(summary));
  } else if (options.out.empty() && !to_stdout) {
    print_summary(summary);
  }
}

}  // namespace

void add_report(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("report", "Runs of arenas: statistics, tests, charts");
  verb->footer(
      "Examples:\n  linnet report results/arena.jsonl\n  linnet report results/arena.jsonl --out "
      "report.html\n  linnet report a.jsonl b.jsonl --against linear-kernel --markdown table.md");
  verb->add_option("files", options->files, "Records of runs, one JSON object a line")->required();
  verb->add_option("--out", options->out, "A page for the browser, all in one file; - is stdout");
  verb->add_option("--markdown", options->markdown, "The tables as Markdown; - is stdout");
  verb->add_option("--csv", options->csv, "One line a row and task; - is stdout");
  verb->add_option("--against", options->against,
                   "The row that the others are tested against; transformer if not given");
  verb->add_option("--title", options->title, "The title of the page");
  verb->add_flag("--json", options->json, "One JSON object a line: rows and tasks, missing runs");
  verb->callback([=] {
    if (verb->count("--title") > 0 && options->out.empty() && options->markdown.empty())
      throw Error("[--title] is of a page: give --out or --markdown");
    run(*options);
  });
}

}  // namespace linnet
