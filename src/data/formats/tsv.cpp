// tsv.cpp -- TSV: one tab between fields, no quotes; with --escapes also \\ \t \n \r.
#include <algorithm>

#include "data/formats.h"
#include "data/table.h"

namespace linnet {
namespace {

std::unique_ptr<RowSource> rows_of(Window window, char) { return tsv_rows(std::move(window)); }

// By name, or the first lines all have the same number of tabs.
bool matches(const Input& input) {
  if (input.name.ends_with(".tsv") || input.name.ends_with(".tab")) return true;
  if (!input.nameless()) return false;
  std::string_view head = input.head();
  std::ptrdiff_t tabs = 0;
  for (int lines = 0; lines < 10 && head.find('\n') != head.npos; ++lines) {
    const std::string_view line = head.substr(0, head.find('\n'));
    const std::ptrdiff_t here = std::count(line.begin(), line.end(), '\t');
    if (here == 0 || (lines > 0 && here != tabs)) return false;
    tabs = here;
    head.remove_prefix(line.size() + 1);
  }
  return tabs > 0;
}

std::unique_ptr<RecordReader> open(Input input, const ReadOptions& options) {
  TableLayout layout = guess_layout(*input.window, options, rows_of, '\t');
  return table_reader(tsv_rows(std::move(*input.window)), std::move(layout));
}

}  // namespace

extern const Format kTsv = {
    .name = "tsv",
    .summary = "A table with tabs and no quotes; --escapes for \\\\ \\t \\n \\r",
    .layout = "label TAB text",
    .takes_folders = false,
    .takes_files = true,
    .pixels = false,
    .matches = matches,
    .splits = nullptr,
    .open = open,
};

}  // namespace linnet
