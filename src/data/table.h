// table.h -- records from rows of fields: a column is the text, one the label.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/columns.h"
#include "data/record.h"
#include "data/rows.h"

namespace linnet {

struct TableLayout {
  ColumnChoice choice;
  std::vector<std::string> names;  // empty without a header
  size_t count = 0;                // fields of every row
  bool skip_header = false;
  bool escapes = false;
  std::string label_separator;
  // What a layout does to a record beyond that; `text` is the record's text, free to be changed.
  void (*finish)(std::span<char> text, Record& record) = nullptr;
};

std::unique_ptr<RecordReader> table_reader(std::unique_ptr<RowSource> rows, TableLayout layout);

// A layout by the options and the first rows of the window; `open` makes rows of a window.
TableLayout guess_layout(Window& window, const ReadOptions& options,
                         std::unique_ptr<RowSource> (*open)(Window window, char delimiter),
                         char delimiter);

}  // namespace linnet
