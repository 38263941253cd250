// window.h -- the part of a byte stream that a record reader looks at: grows to a whole record,
// then lets it go.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/byte_source.h"

namespace linnet {

// Far above any document, far below the memory of a machine.
inline constexpr size_t kRecordLimit = size_t{64} << 20;

// Offsets count from the first byte that was not let go; they stay valid when the window grows,
// pointers do not.
class Window {
 public:
  // `name` is the file in messages. The limit is of a record, at least 128 KiB.
  Window(std::unique_ptr<ByteSource> source, std::string name, size_t limit);

  char* data() { return buffer_.data() + begin_; }
  size_t size() const { return end_ - begin_; }
  // Reads more behind the bytes; false at the end of the stream. More than the limit is an Error.
  bool more();
  // Has at least n bytes, unless the stream ends before.
  void ensure(size_t n) {
    while (size() < n && more()) {
    }
  }
  // The first `c` at or after `from`, reading on as far as needed; npos when there is none.
  size_t find(char c, size_t from);
  // Lets the first n bytes go, with the number of line ends among them.
  void drop(size_t n, int64_t lines = 0);
  // Drops the mark that some programs put before UTF-8; UTF-16 is an Error.
  void skip_byte_order_mark();

  const std::string& name() const { return name_; }
  int64_t line() const { return line_; }  // of the first byte, from 1
  bool ended() const { return ended_; }
  double done() const { return source_->done(); }
  [[noreturn]] void fail(int64_t line, size_t column, std::string_view what) const;

  static constexpr size_t npos = ~size_t{0};

 private:
  std::unique_ptr<ByteSource> source_;
  std::string name_;
  size_t limit_;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;
  int64_t line_ = 1;
  bool ended_ = false;
};

// Line by line; "\n" and "\r\n" end a line and are no part of it.
class LineReader {
 public:
  explicit LineReader(Window window);
  // The next line that is not empty; it may be changed in place and holds until the next call.
  bool next(char*& begin, char*& end);
  int64_t line() const { return window_.line(); }
  const Window& window() const { return window_; }

 private:
  Window window_;
  size_t used_ = 0;
};

}  // namespace linnet
