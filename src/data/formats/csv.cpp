// csv.cpp -- CSV: commas, semicolons, tabs or bars between fields, quotes around them.
#include <array>

#include "core/error.h"
#include "data/formats.h"
#include "data/table.h"

namespace linnet {
namespace {

// What stands most often in the first line, outside of quotes.
char guess_delimiter(std::string_view head) {
  constexpr std::string_view kDelimiters = ",;\t|";
  std::array<size_t, kDelimiters.size()> counts{};
  bool quoted = false;
  for (const char c : head) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '\n') break;
    const size_t found = kDelimiters.find(c);
    if (found != kDelimiters.npos) ++counts[found];
  }
  size_t best = 0;
  for (size_t i = 1; i < counts.size(); ++i) {
    if (counts[i] > counts[best]) best = i;
  }
  return kDelimiters[best];
}

// By name, or the first rows all have the same number of fields.
bool matches(const Input& input) {
  if (input.name.ends_with(".csv")) return true;
  if (!input.nameless()) return false;
  std::string_view head = input.head();
  const size_t last = head.rfind('\n');
  if (!input.window->ended() && last != head.npos) head = head.substr(0, last + 1);
  size_t rows = 0, fields = 0;
  try {
    const auto source =
        csv_rows(Window(bytes_of(head), "sample", kRecordLimit), guess_delimiter(head));
    for (std::vector<Field> row; rows < 20 && source->next(row); ++rows) {
      if (row.size() < 2 || (rows > 0 && row.size() != fields)) return false;
      fields = row.size();
    }
  } catch (const Error&) {
    ++rows;  // a quote that is closed later, or a fault to be told when it is read
  }
  return rows >= 2;
}

std::unique_ptr<RecordReader> open(Input input, const ReadOptions& options) {
  if (options.delimiter.size() > 1 || options.delimiter == "\"" || options.delimiter == "\n") {
    throw Error("[--delimiter] must be one byte, neither a quote nor a line end");
  }
  const char delimiter =
      options.delimiter.empty() ? guess_delimiter(input.head()) : options.delimiter[0];
  TableLayout layout = guess_layout(*input.window, options, csv_rows, delimiter);
  return table_reader(csv_rows(std::move(*input.window), delimiter), std::move(layout));
}

}  // namespace

extern const Format kCsv = {
    .name = "csv",
    .summary = "A table with quotes: line breaks inside, doubled quotes, any of , ; tab |",
    .layout = "label,text",
    .takes_folders = false,
    .takes_files = true,
    .pixels = false,
    .matches = matches,
    .splits = nullptr,
    .open = open,
};

}  // namespace linnet
