// imdb_tsv.cpp -- IMDb reviews in one file: label, id, rating, text with escapes.
//
// The same records as those of the folder aclImdb: label 0 is neg, 1 is pos, -1 is unlabelled.
#include <algorithm>

#include "data/formats.h"
#include "data/table.h"

namespace linnet {
namespace {

bool is_digits(std::string_view text) {
  return !text.empty() && text.size() <= 6 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// The first line: one of three labels, an id, a rating from 0 to 10, and the text.
bool matches(const Input& input) {
  if (!input.nameless() && !input.name.ends_with(".tsv")) return false;
  std::string_view line = input.head().substr(0, input.head().find('\n'));
  std::string_view cells[3];
  for (std::string_view& cell : cells) {
    const size_t tab = line.find('\t');
    if (tab == line.npos) return false;
    cell = line.substr(0, tab);
    line.remove_prefix(tab + 1);
  }
  return (cells[0] == "0" || cells[0] == "1" || cells[0] == "-1") && is_digits(cells[1]) &&
         is_digits(cells[2]) && (cells[2].size() == 1 || cells[2] == "10") &&
         line.find('\t') == line.npos;
}

void name_label(std::span<char>, Record& record) {
  if (record.labels.empty()) return;
  std::string_view& label = record.labels[0];
  if (label == "-1") {
    record.labels.clear();
  } else if (label == "0") {
    label = "neg";
  } else if (label == "1") {
    label = "pos";
  }
}

std::unique_ptr<RecordReader> open(Input input, const ReadOptions&) {
  return table_reader(tsv_rows(std::move(*input.window)),
                      {.choice = {.text = 3, .second = -1, .label = 0},
                       .names = {},
                       .count = 4,
                       .skip_header = false,
                       .escapes = true,
                       .label_separator = "",
                       .finish = name_label});
}

}  // namespace

extern const Format kImdbTsv = {
    .name = "imdb-tsv",
    .summary = "IMDb reviews in one file, with escapes; label 0 is neg, 1 pos, -1 unlabelled",
    .layout = "label TAB id TAB rating TAB text",
    .takes_folders = false,
    .takes_files = true,
    .pixels = false,
    .matches = matches,
    .splits = nullptr,
    .open = open,
};

}  // namespace linnet
