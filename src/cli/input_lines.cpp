// input_lines.cpp -- lines of the window over standard input.
#include "cli/input_lines.h"

#include <algorithm>

namespace linnet {

InputLines::InputLines(size_t record_limit)
    : window_(open_bytes("-"), "standard input", record_limit) {}

bool InputLines::next(std::string_view& line) {
  if (!started_) window_.skip_byte_order_mark();
  window_.drop(used_, started_ ? 1 : 0);
  started_ = true;
  used_ = 0;
  if (window_.size() == 0 && !window_.more()) return false;
  const size_t length = std::min(window_.find('\n', 0), window_.size());
  used_ = std::min(length + 1, window_.size());
  line = {window_.data(), length};
  return true;
}

}  // namespace linnet
