// rows.h -- tables as rows of fields: CSV with quotes, and lines with tabs.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "data/window.h"

namespace linnet {

// Bytes of the window, unquoted or unescaped in place; the place is where the field starts.
struct Field {
  char* begin;
  char* end;
  int64_t line;
  size_t column;  // bytes, from 1

  std::string_view text() const { return {begin, static_cast<size_t>(end - begin)}; }
};

// Fields of a row; more are an Error. Ten times what widest tables have (a spreadsheet 16,384), and
// a row of a hostile file costs 4 MB, not a hundred times its bytes.
inline constexpr size_t kMostFields = 65'536;

class RowSource {
 public:
  virtual ~RowSource() = default;
  // The next row that is no blank line; false at the end. The fields hold until the next call.
  virtual bool next(std::vector<Field>& row) = 0;
  virtual const Window& window() const = 0;
};

// RFC 4180: a field in quotes may hold delimiters, line breaks and doubled quotes. A quote that
// does not begin a field is a character like any other.
std::unique_ptr<RowSource> csv_rows(Window window, char delimiter);

// One line a row, one tab between fields, no quotes.
std::unique_ptr<RowSource> tsv_rows(Window window);

// Replaces \\ \t \n \r by what they stand for; any other backslash is an Error with its place.
void unescape(Field& field, const Window& window);

}  // namespace linnet
