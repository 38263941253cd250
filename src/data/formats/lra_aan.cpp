// lra_aan.cpp -- document pairs of the Long Range Arena: label, two ids, two texts; no header, no
// quotes.
//
// As LRA's own loader reads it: the texts are taken as they stand, the label is a number such
// as 1.0.
#include "data/formats.h"
#include "data/table.h"

namespace linnet {
namespace {

bool matches(const Input& input) {
  return input.name.starts_with("new_aan_pairs.") && input.name.ends_with(".tsv");
}

void whole_label(std::span<char>, Record& record) {
  for (std::string_view& label : record.labels) {
    if (label.size() > 2 && label.ends_with(".0")) label.remove_suffix(2);
  }
}

std::unique_ptr<RecordReader> open(Input input, const ReadOptions&) {
  return table_reader(tsv_rows(std::move(*input.window)),
                      {.choice = {.text = 3, .second = 4, .label = 0},
                       .names = {},
                       .count = 5,
                       .skip_header = false,
                       .escapes = false,
                       .label_separator = "",
                       .finish = whole_label});
}

}  // namespace

extern const Format kLraAan = {
    .name = "lra-aan",
    .summary = "Document pairs of the Long Range Arena (new_aan_pairs.train.tsv)",
    .layout = "label TAB id1 TAB id2 TAB text1 TAB text2",
    .takes_folders = false,
    .takes_files = true,
    .pixels = false,
    .matches = matches,
    .splits = nullptr,
    .open = open,
};

}  // namespace linnet
