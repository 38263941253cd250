// window.cpp -- buffer of a byte stream.
#include "data/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "core/file.h"

namespace linnet {
namespace {

constexpr size_t kFirstBuffer = size_t{1} << 18;    // stays in the L2 cache
constexpr size_t kSmallestLimit = size_t{1} << 17;  // what a guess looks at

}  // namespace

Window::Window(std::unique_ptr<ByteSource> source, std::string name, size_t limit)
    : source_(std::move(source)), name_(std::move(name)), limit_(std::max(limit, kSmallestLimit)) {}

bool Window::more() {
  if (ended_) return false;
  if (size() > limit_) {
    fail(line_, 1,
         fmt::format("a record of more than {} bytes: a missing line end or quote? A longer one "
                     "needs a higher --record-limit",
                     limit_));
  }
  if (end_ == buffer_.size()) {
    // Never more than the limit and a block: where the bytes could be longer, they are a record
    // that is refused.
    const size_t most = limit_ + kFirstBuffer;
    if (begin_ > buffer_.size() / 2 || (begin_ > 0 && buffer_.size() == most)) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, size());
      end_ -= begin_;
      begin_ = 0;
    } else {
      buffer_.resize(std::min(std::max(kFirstBuffer, 2 * buffer_.size()), most));
    }
  }
  const size_t n = source_->read(buffer_.data() + end_, buffer_.size() - end_);
  ended_ = n == 0;
  end_ += n;
  return !ended_;
}

size_t Window::find(char c, size_t from) {
  for (;;) {
    if (from < size()) {
      const void* found = std::memchr(data() + from, c, size() - from);
      if (found != nullptr) return static_cast<size_t>(static_cast<const char*>(found) - data());
      from = size();
    }
    if (!more()) return npos;
  }
}

void Window::drop(size_t n, int64_t lines) {
  begin_ += n;
  line_ += lines;
  if (begin_ == end_) begin_ = end_ = 0;
}

void Window::skip_byte_order_mark() {
  ensure(3);
  const std::string_view start(data(), std::min<size_t>(size(), 3));
  if (start == "\xef\xbb\xbf") drop(3);
  if (start.starts_with("\xff\xfe") || start.starts_with("\xfe\xff")) {
    fail(1, 1, "is UTF-16; make it UTF-8 first: iconv -f UTF-16 -t UTF-8 FILE");
  }
}

void Window::fail(int64_t line, size_t column, std::string_view what) const {
  throw Error(fmt::format("[{}:{}:{}] {}", place_of(name_), line, column, what));
}

LineReader::LineReader(Window window) : window_(std::move(window)) {
  window_.skip_byte_order_mark();
}

bool LineReader::next(char*& begin, char*& end) {
  for (;;) {
    window_.drop(used_, used_ > 0 ? 1 : 0);
    used_ = 0;
    if (window_.size() == 0 && !window_.more()) return false;
    const size_t newline = window_.find('\n', 0);
    size_t length = newline == Window::npos ? window_.size() : newline;
    used_ = newline == Window::npos ? length : length + 1;
    if (length > 0 && newline != Window::npos && window_.data()[length - 1] == '\r') --length;
    if (length == 0) continue;
    begin = window_.data();
    end = begin + length;
    return true;
  }
}

}  // namespace linnet
