// lra_listops.cpp -- ListOps as the Long Range Arena has it: Source TAB Target, with parentheses,
// which its loader drops too.
#include "data/formats.h"
#include "data/table.h"

namespace linnet {
namespace {

bool matches(const Input& input) { return input.head().starts_with("Source\tTarget"); }

// Words with one blank between them, in place.
void drop_parentheses(std::span<char> text, Record& record) {
  char* out = text.data();
  bool blank = false;
  for (const char c : text) {
    if (c == '(' || c == ')' || c == ' ') {
      blank = out != text.data();
      continue;
    }
    if (blank) *out++ = ' ';
    blank = false;
    *out++ = c;
  }
  record.text = {text.data(), static_cast<size_t>(out - text.data())};
}

std::unique_ptr<RecordReader> open(Input input, const ReadOptions&) {
  return table_reader(tsv_rows(std::move(*input.window)),
                      {.choice = {.text = 0, .second = -1, .label = 1},
                       .names = {"Source", "Target"},
                       .count = 2,
                       .skip_header = true,
                       .escapes = false,
                       .label_separator = "",
                       .finish = drop_parentheses});
}

}  // namespace

extern const Format kLraListops = {
    .name = "lra-listops",
    .summary = "ListOps of the Long Range Arena (basic_train.tsv), parentheses dropped",
    .layout = "Source TAB Target",
    .takes_folders = false,
    .takes_files = true,
    .pixels = false,
    .matches = matches,
    .splits = nullptr,
    .open = open,
};

}  // namespace linnet
