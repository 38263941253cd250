// input_lines.h -- standard input as lines, read as all data is: unpacked, UTF-16 refused, and a
// line no longer than a record may be.
#pragma once

#include <cstdint>
#include <string_view>

#include "data/window.h"

namespace linnet {

class InputLines {
 public:
  explicit InputLines(size_t record_limit = kRecordLimit);
  // The next line without its "\n", empty ones too; it holds until the next call. Of a pipe a line
  // is there as soon as it is written.
  bool next(std::string_view& line);
  int64_t number() const { return window_.line(); }  // of that line, from 1

 private:
  Window window_;
  bool started_ = false;
  size_t used_ = 0;
};

}  // namespace linnet
