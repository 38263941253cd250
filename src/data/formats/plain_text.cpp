// plain_text.cpp -- text without labels, for language models: a file, or every .txt file of a
// folder.
//
// A record is a piece of at most 64 KiB that ends at a line end where there is one, else between
// two characters. The pieces of a file put together are the file, byte for byte, but for a mark of
// UTF-8 at its start.
#include <algorithm>
#include <cstring>

#include "data/formats.h"

namespace linnet {
namespace {

constexpr size_t kPiece = size_t{1} << 16;

class PlainTextReader : public RecordReader {
 public:
  PlainTextReader(Window window, size_t limit)
      : RecordReader(window.name()), window_(std::move(window)), limit_(limit) {
    window_.skip_byte_order_mark();
  }
  PlainTextReader(std::unique_ptr<FileTree> tree, const std::vector<std::string>& files,
                  size_t limit)
      : RecordReader(tree->path()),
        tree_(std::move(tree)),
        walk_(tree_->walk(files)),
        window_(bytes_of(""), tree_->path(), limit),
        limit_(limit) {}
  double done() const override { return walk_ ? walk_->done() : window_.done(); }

 protected:
  bool read(Record& record) override {
    window_.drop(used_, lines_);
    used_ = 0;
    lines_ = 0;
    window_.ensure(2 * kPiece);
    while (window_.size() == 0) {
      if (!walk_ || !walk_->next()) return false;
      window_ = Window(std::make_unique<Borrowed>(*walk_), tree_->path_of(walk_->name()), limit_);
      window_.skip_byte_order_mark();
      window_.ensure(2 * kPiece);
    }
    used_ = std::min(window_.size(), kPiece);
    if (used_ < window_.size()) {
      const void* last = ::memrchr(window_.data(), '\n', used_);
      if (last != nullptr) {
        used_ = static_cast<size_t>(static_cast<const char*>(last) - window_.data()) + 1;
      } else {
        // Not within a character of UTF-8, whose further bytes are 10......
        for (int i = 0; i < 3 && (window_.data()[used_] & 0xc0) == 0x80; ++i) --used_;
      }
    }
    record.text = {window_.data(), used_};
    record.continues = used_ < window_.size();
    record.file = window_.name();
    record.line = window_.line();
    lines_ = std::count(record.text.begin(), record.text.end(), '\n');
    return true;
  }

 private:
  // The walk's present file; the walk outlives it.
  struct Borrowed : ByteSource {
    explicit Borrowed(FileWalk& walk) : walk_(walk) {}
    size_t read(char* into, size_t room) override { return walk_.read(into, room); }
    FileWalk& walk_;
  };

  std::unique_ptr<FileTree> tree_;
  std::unique_ptr<FileWalk> walk_;
  Window window_;
  size_t limit_, used_ = 0;
  int64_t lines_ = 0;
};

bool is_text_name(const std::string& name) {
  return name.ends_with(".txt") || name.ends_with(".text") || name.ends_with(".md");
}

bool matches(const Input& input) {
  // A program or a picture is no text, unless one says so.
  const bool zeros = input.head().find('\0') != std::string_view::npos;
  if (!input.tree) return is_text_name(input.name) || (input.nameless() && !zeros);
  const auto& files = input.tree->files();
  return std::all_of(files.begin(), files.end(), [](const std::string& file) {
    return is_text_name(file) && split_of_name(file).empty();
  });
}

std::vector<std::string> splits(const Input&) { return {}; }

std::unique_ptr<RecordReader> open(Input input, const ReadOptions& options) {
  if (input.window)
    return std::make_unique<PlainTextReader>(std::move(*input.window), options.record_limit);
  const std::vector<std::string> files = input.tree->files();
  return std::make_unique<PlainTextReader>(std::move(input.tree), files, options.record_limit);
}

}  // namespace

extern const Format kPlainText = {
    .name = "text",
    .summary = "Plain text without labels, for language models; a file or a folder of .txt files",
    .layout = "any text",
    .takes_folders = true,
    .takes_files = true,
    .pixels = false,
    .matches = matches,
    .splits = splits,
    .open = open,
};

}  // namespace linnet
