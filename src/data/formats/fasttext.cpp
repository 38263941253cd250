// fasttext.cpp -- fastText's own form: words of a line that start with __label__ are its labels,
// the others its text.
#include <cstring>

#include "data/formats.h"

namespace linnet {
namespace {

constexpr std::string_view kMark = "__label__";

bool is_blank(char c) { return c == ' ' || c == '\t'; }

class FasttextReader : public RecordReader {
 public:
  explicit FasttextReader(Window window) : RecordReader(window.name()), lines_(std::move(window)) {}
  double done() const override { return lines_.window().done(); }

 protected:
  // Labels usually stand first; wherever they do, the text closes up over them.
  bool read(Record& record) override {
    char *begin = nullptr, *end = nullptr;
    if (!lines_.next(begin, end)) return false;
    const std::string_view line(begin, static_cast<size_t>(end - begin));
    // A text is moved over a label only after the label was copied.
    labels_.clear();
    record.file = lines_.window().name();
    record.line = lines_.line();
    size_t out = 0, from = 0, first_column = 1;
    for (size_t at = line.find(kMark); at != line.npos; at = line.find(kMark, at + 1)) {
      if (at > 0 && !is_blank(line[at - 1])) continue;
      size_t stop = at;
      while (stop < line.size() && !is_blank(line[stop])) ++stop;
      if (labels_.empty()) first_column = at + 1;
      check_labels(record, labels_.size() + 1);
      labels_.emplace_back(line.substr(at + kMark.size(), stop - at - kMark.size()));
      while (stop < line.size() && is_blank(line[stop])) ++stop;
      std::memmove(begin + out, begin + from, at - from);
      out += at - from;
      from = stop;
      at = stop - 1;
    }
    std::memmove(begin + out, begin + from, line.size() - from);
    out += line.size() - from;
    for (const std::string& label : labels_) add_labels(label, "", record);
    while (out > 0 && is_blank(begin[out - 1])) --out;
    record.text = {begin, out};
    record.column = first_column;
    return true;
  }

 private:
  LineReader lines_;
  std::vector<std::string> labels_;
};

bool matches(const Input& input) {
  const bool text = input.nameless() || input.name.ends_with(".txt") ||
                    input.name.ends_with(".train") || input.name.ends_with(".valid") ||
                    input.name.ends_with(".test") || input.name.ends_with(".ft");
  return text && input.head().starts_with(kMark);
}

std::unique_ptr<RecordReader> open(Input input, const ReadOptions&) {
  return std::make_unique<FasttextReader>(std::move(*input.window));
}

}  // namespace

extern const Format kFasttext = {
    .name = "fasttext",
    .summary = "fastText's lines: words with __label__ in front are labels, one or several",
    .layout = "__label__x __label__y text",
    .takes_folders = false,
    .takes_files = true,
    .pixels = false,
    .matches = matches,
    .splits = nullptr,
    .open = open,
};

}  // namespace linnet
