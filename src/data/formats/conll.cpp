// conll.cpp -- words with tags, as CoNLL 2003 has them: a word a line, its tag in the last column,
// an empty line between sentences.
#include <fmt/format.h>

#include "core/error.h"
#include "data/formats.h"

namespace linnet {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kDocument = "-DOCSTART-";

class ConllReader : public RecordReader {
 public:
  ConllReader(Window window, size_t limit)
      : RecordReader(window.name()), lines_(std::move(window)), limit_(limit) {}
  double done() const override { return lines_.window().done(); }

 protected:
  // A sentence ends where a line number is left out: there was an empty line. The first line after
  // it is kept for the next record.
  bool read(Record& record) override {
    text_.clear();
    tags_.clear();
    if (waiting_.empty() && !next_line()) return false;
    const int64_t first = line_;
    for (int64_t last = line_ - 1; !waiting_.empty() && line_ == last + 1; next_line()) {
      last = line_;
      add(waiting_);
      waiting_.clear();
    }
    record.text = text_;
    for (const std::string& tag : tags_) record.labels.push_back(tag);
    record.file = lines_.window().name();
    record.line = first;
    return true;
  }

 private:
  bool next_line() {
    char *begin = nullptr, *end = nullptr;
    do {
      if (!lines_.next(begin, end)) {
        waiting_.clear();
        return false;
      }
      waiting_.assign(begin, end);
      line_ = lines_.line();
    } while (waiting_.starts_with(kDocument) ||
             waiting_.find_first_not_of(kBlanks) == waiting_.npos);
    return true;
  }
  void add(std::string_view line) {
    const size_t start = line.find_first_not_of(kBlanks);
    const size_t stop = line.find_last_not_of(kBlanks) + 1;
    const size_t word = line.find_first_of(kBlanks, start);
    const size_t tag = line.find_last_of(kBlanks, stop - 1);
    if (word == line.npos || word >= stop)
      lines_.window().fail(line_, start + 1, "a line needs a word and a tag");
    if (tags_.size() == kMostLabels)
      lines_.window().fail(
          line_, 1,
          fmt::format("a sentence of more than {} words: are there empty lines between sentences?",
                      kMostLabels));
    if (text_.size() + word - start > limit_)
      lines_.window().fail(line_, 1, "a sentence is longer than the limit of a record");
    if (!text_.empty()) text_ += ' ';
    text_ += line.substr(start, word - start);
    tags_.emplace_back(line.substr(tag + 1, stop - tag - 1));
  }

  LineReader lines_;
  size_t limit_;
  int64_t line_ = 0;     // of waiting_
  std::string waiting_;  // a line that is not yet part of a record
  std::string text_;
  std::vector<std::string> tags_;
};

bool matches(const Input& input) {
  return input.name.ends_with(".conll") || input.name.ends_with(".bio") ||
         input.name.ends_with(".iob") || input.name.ends_with(".iob2");
}

std::unique_ptr<RecordReader> open(Input input, const ReadOptions& options) {
  return std::make_unique<ConllReader>(std::move(*input.window), options.record_limit);
}

}  // namespace

extern const Format kConll = {
    .name = "conll",
    .summary = "words with tags: a word a line, its tag last, an empty line between sentences",
    .layout = "word ... tag",
    .takes_folders = false,
    .takes_files = true,
    .pixels = false,
    .matches = matches,
    .splits = nullptr,
    .open = open,
};

}  // namespace linnet
