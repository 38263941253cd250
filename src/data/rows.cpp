// rows.cpp -- CSV and TSV, by memchr from one delimiter to the next.
#include "data/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/file.h"

namespace linnet {
namespace {

void check_fields(const Window& window, size_t fields, int64_t line, size_t column) {
  if (fields >= kMostFields)
    window.fail(
        line, column,
        fmt::format("more than {} fields in a row: is it the right delimiter, is a line end "
                    "missing?",
                    kMostFields));
}

class CsvRows : public RowSource {
 public:
  CsvRows(Window window, char delimiter) : window_(std::move(window)), delimiter_(delimiter) {
    window_.skip_byte_order_mark();
  }
  bool next(std::vector<Field>& row) override;
  const Window& window() const override { return window_; }

 private:
  // A field while its row is read: offsets, since the window may move.
  struct Place {
    size_t begin, end;
    int64_t line;
    size_t column;
  };
  void add(const Place& place) {
    check_fields(window_, places_.size(), place.line, place.column);
    places_.push_back(place);
  }
  void quoted_field();
  void plain_field();
  size_t column(size_t offset) const { return offset - line_start_ + 1; }
  int64_t line() const { return window_.line() + line_breaks_; }

  Window window_;
  char delimiter_;
  std::vector<Place> places_;
  size_t at_ = 0;  // where the next field starts; at the end of a row, where the next row does
  size_t line_start_ = 0;
  size_t newline_ = 0;  // the first line end at or after at_, when it is not before at_
  int64_t line_breaks_ = 0;
  bool row_ended_ = false;
};

bool CsvRows::next(std::vector<Field>& row) {
  for (;;) {
    window_.drop(at_, line_breaks_);
    at_ = line_start_ = newline_ = 0;
    line_breaks_ = 0;
    if (window_.size() == 0 && !window_.more()) return false;
    places_.clear();
    for (row_ended_ = false; !row_ended_;) {
      if (at_ == window_.size()) window_.more();
      if (at_ < window_.size() && window_.data()[at_] == '"') {
        quoted_field();
      } else {
        plain_field();
      }
    }
    const bool blank = places_.size() == 1 && places_[0].begin == 0 && places_[0].end == 0;
    if (!blank) break;
  }
  row.clear();
  for (const Place& p : places_)
    row.push_back({window_.data() + p.begin, window_.data() + p.end, p.line, p.column});
  return true;
}

void CsvRows::plain_field() {
  if (newline_ <= at_) {
    newline_ = at_ < window_.size() ? window_.find('\n', at_) : Window::npos;
    if (newline_ == Window::npos) newline_ = window_.size();
  }
  const char* data = window_.data();
  const void* found = std::memchr(data + at_, delimiter_, newline_ - at_);
  size_t end = newline_;
  row_ended_ = found == nullptr;
  if (!row_ended_) {
    end = static_cast<size_t>(static_cast<const char*>(found) - data);
  } else if (newline_ < window_.size() && end > at_ && data[end - 1] == '\r') {
    --end;
  }
  add({at_, end, line(), column(at_)});
  if (!row_ended_) {
    at_ = end + 1;
  } else {
    line_breaks_ += newline_ < window_.size() ? 1 : 0;
    at_ = std::min(newline_ + 1, window_.size());
  }
}

void CsvRows::quoted_field() {
  const int64_t open_line = line();
  const size_t open_column = column(at_);
  const size_t begin = at_ + 1;
  size_t out = begin;  // the field without its doubled quotes ends here
  for (size_t from = begin;;) {
    const size_t quote = window_.find('"', from);
    if (quote == Window::npos) window_.fail(open_line, open_column, "a quote that is never closed");
    window_.ensure(quote + 2);
    char* data = window_.data();
    if (const void* last = ::memrchr(data + from, '\n', quote - from)) {
      line_breaks_ += std::count(data + from, data + quote, '\n');
      line_start_ = static_cast<size_t>(static_cast<const char*>(last) - data) + 1;
    }
    const bool doubled = quote + 1 < window_.size() && data[quote + 1] == '"';
    const size_t length = quote - from + (doubled ? 1 : 0);
    if (out != from) std::memmove(data + out, data + from, length);
    out += length;
    from = quote + 2;
    if (doubled) continue;
    at_ = quote + 1;
    break;
  }
  add({begin, out, open_line, open_column});
  window_.ensure(at_ + 2);
  const std::string_view rest(window_.data() + at_, std::min<size_t>(window_.size() - at_, 2));
  if (!rest.empty() && rest[0] == delimiter_) {
    ++at_;
    return;
  }
  row_ended_ = true;
  if (rest.empty()) return;
  if (rest[0] != '\n' && rest != "\r\n") {
    window_.fail(
        line(), column(at_),
        fmt::format("after a closing quote comes \"{}\" or the end of the line, not \"{}\"; "
                    "a quote inside quotes is written twice",
                    printable({&delimiter_, 1}), printable(rest.substr(0, 1))));
  }
  ++line_breaks_;
  at_ += rest[0] == '\n' ? 1 : 2;
}

class TsvRows : public RowSource {
 public:
  explicit TsvRows(Window window) : lines_(std::move(window)) {}
  bool next(std::vector<Field>& row) override {
    char *line = nullptr, *end = nullptr;
    if (!lines_.next(line, end)) return false;
    row.clear();
    for (char* at = line;;) {
      char* tab = static_cast<char*>(std::memchr(at, '\t', static_cast<size_t>(end - at)));
      const size_t column = static_cast<size_t>(at - line) + 1;
      check_fields(lines_.window(), row.size(), lines_.line(), column);
      row.push_back({at, tab ? tab : end, lines_.line(), column});
      if (tab == nullptr) return true;
      at = tab + 1;
    }
  }
  const Window& window() const override { return lines_.window(); }

 private:
  LineReader lines_;
};

}  // namespace

std::unique_ptr<RowSource> csv_rows(Window window, char delimiter) {
  return std::make_unique<CsvRows>(std::move(window), delimiter);
}

std::unique_ptr<RowSource> tsv_rows(Window window) {
  return std::make_unique<TsvRows>(std::move(window));
}

void unescape(Field& field, const Window& window) {
  char *out = nullptr, *from = field.begin;
  for (;;) {
    char* slash =
        static_cast<char*>(std::memchr(from, '\\', static_cast<size_t>(field.end - from)));
    char* stop = slash ? slash : field.end;
    if (out == nullptr) {
      out = stop;
    } else {
      std::memmove(out, from, static_cast<size_t>(stop - from));
      out += stop - from;
    }
    if (slash == nullptr) break;
    const char code = slash + 1 < field.end ? slash[1] : '\0';
    constexpr std::string_view kCodes = "\\tnr", kBytes = "\\\t\n\r";
    const size_t found = kCodes.find(code);
    if (found == kCodes.npos) {
      window.fail(field.line, field.column + static_cast<size_t>(slash - field.begin),
                  "a backslash here must be one of \\\\ \\t \\n \\r");
    }
    *out++ = kBytes[found];
    from = slash + 2;
  }
  field.end = out;
}

}  // namespace linnet
