// table.cpp -- tables to records.
#include "data/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/file.h"

namespace linnet {
namespace {

constexpr size_t kSampleBytes = size_t{1} << 16, kSampleRows = 100;

class TableReader : public RecordReader {
 public:
  TableReader(std::unique_ptr<RowSource> rows, TableLayout layout)
      : RecordReader(rows->window().name()), rows_(std::move(rows)), layout_(std::move(layout)) {}

  double done() const override { return rows_->window().done(); }
  std::vector<Column> columns() const override {
    return describe_columns(layout_.choice, layout_.names, layout_.count);
  }

 protected:
  bool read(Record& record) override {
    if (layout_.skip_header) {
      layout_.skip_header = false;
      if (!rows_->next(row_)) return false;
    }
    if (!rows_->next(row_)) return false;
    const Window& window = rows_->window();
    if (row_.size() != layout_.count) {
      const Field& last = row_.back();
      window.fail(last.line, last.column,
                  fmt::format("this row has {} fields, not {} as the first row", row_.size(),
                              layout_.count));
    }
    const ColumnChoice& choice = layout_.choice;
    Field& text = row_[static_cast<size_t>(choice.text)];
    Field* second = choice.second < 0 ? nullptr : &row_[static_cast<size_t>(choice.second)];
    if (layout_.escapes) {
      unescape(text, window);
      if (second) unescape(*second, window);
    }
    const Field& label = row_[static_cast<size_t>(choice.label < 0 ? choice.text : choice.label)];
    record.text = text.text();
    if (second) record.second = second->text();
    record.file = window.name();
    record.line = label.line;
    record.column = label.column;
    if (choice.label >= 0) add_labels(label.text(), layout_.label_separator, record);
    if (layout_.finish) {
      layout_.finish({text.begin, static_cast<size_t>(text.end - text.begin)}, record);
    }
    return true;
  }

 private:
  std::unique_ptr<RowSource> rows_;
  TableLayout layout_;
  std::vector<Field> row_;
};

// The rows at the start of the window, which stays as it is. What is wrong with them will be said
// when they are read in earnest.
std::vector<SampleRow> sample(Window& window, size_t record_limit,
                              std::unique_ptr<RowSource> (*open)(Window window, char delimiter),
                              char delimiter) {
  for (size_t bytes = kSampleBytes;; bytes *= 4) {
    bytes = std::min(bytes, record_limit);
    window.ensure(bytes);
    const bool whole = window.size() < bytes;
    std::vector<SampleRow> rows;
    try {
      const auto source = open(
          Window(bytes_of({window.data(), std::min(window.size(), bytes)}), "sample", record_limit),
          delimiter);
      for (std::vector<Field> row; rows.size() < kSampleRows && source->next(row);) {
        SampleRow& copy = rows.emplace_back();
        for (const Field& field : row) copy.emplace_back(field.text());
      }
      const bool cut = !whole && rows.size() < kSampleRows && !rows.empty();
      if (cut) rows.pop_back();
    } catch (const Error&) {
      if (!rows.empty()) return rows;
    }
    if (whole || rows.size() >= 2 || bytes >= record_limit) return rows;
  }
}

}  // namespace

std::unique_ptr<RecordReader> table_reader(std::unique_ptr<RowSource> rows, TableLayout layout) {
  return std::make_unique<TableReader>(std::move(rows), std::move(layout));
}

TableLayout guess_layout(Window& window, const ReadOptions& options,
                         std::unique_ptr<RowSource> (*open)(Window window, char delimiter),
                         char delimiter) {
  std::vector<SampleRow> rows = sample(window, options.record_limit, open, delimiter);
  TableLayout layout;
  layout.escapes = options.escapes;
  layout.label_separator = options.label_separator;
  layout.count = rows.empty() ? 1 : rows[0].size();
  layout.skip_header = has_header(rows, options);
  if (layout.skip_header && !rows.empty()) {
    layout.names = std::move(rows[0]);
    rows.erase(rows.begin());
  }
  layout.choice = choose_columns(place_of(window.name()), layout.names, rows, options);
  return layout;
}

}  // namespace linnet
