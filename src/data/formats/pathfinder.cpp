// pathfinder.cpp -- Pathfinder folders of the Long Range Arena: lines of metadata/*.npy name a PNG
// and its label.
//
// A line: folder, file, number, label, ... between blanks, "imgs/0 sample_7.png 7 1 1.8 ...". The
// files are called .npy but hold text. LRA leaves out images of no bytes; so does this reader.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>

#include "core/error.h"
#include "core/file.h"
#include "data/formats.h"
#include "data/png.h"

namespace linnet {
namespace {

constexpr size_t kMaxImage = size_t{64} << 20;

// "metadata/12.npy", also below another folder.
bool is_metadata(std::string_view file) {
  const std::string_view folder = "metadata/";
  const size_t slash = file.rfind('/');
  return file.ends_with(".npy") && slash != file.npos &&
         file.substr(0, slash + 1).ends_with(folder);
}

int64_t number_of(std::string_view file) {
  int64_t number = -1;
  const size_t slash = file.rfind('/');
  std::from_chars(file.data() + slash + 1, file.data() + file.size(), number);
  return number;
}

class PathfinderReader : public RecordReader {
 public:
  PathfinderReader(std::unique_ptr<FileTree> tree, size_t limit)
      : RecordReader(tree->path()), tree_(std::move(tree)), limit_(limit) {
    for (const std::string& file : tree_->files()) {
      if (is_metadata(file)) metadata_.push_back(file);
    }
    // In the order of their numbers: 2 before 10.
    std::sort(metadata_.begin(), metadata_.end(), [](const std::string& a, const std::string& b) {
      const size_t at = a.rfind('/'), bt = b.rfind('/');
      return std::make_tuple(a.substr(0, at), number_of(a), a) <
             std::make_tuple(b.substr(0, bt), number_of(b), b);
    });
  }
  double done() const override {
    return static_cast<double>(at_) / static_cast<double>(std::max<size_t>(metadata_.size(), 1));
  }

 protected:
  bool read(Record& record) override {
    char *begin = nullptr, *end = nullptr;
    for (;;) {
      while (!lines_ || !lines_->next(begin, end)) {
        if (at_ == metadata_.size()) return false;
        open_metadata(metadata_[at_++]);
      }
      if (read_image(record, {begin, static_cast<size_t>(end - begin)})) return true;
    }
  }

 private:
  void open_metadata(const std::string& file) {
    Window window(tree_->open(file), tree_->path_of(file), limit_);
    window.ensure(6);
    if (std::string_view(window.data(), window.size()).starts_with("\x93NUMPY")) {
      window.fail(1, 1, "is a NumPy array; the metadata of LRA are lines of text");
    }
    folder_ = file.substr(0, file.size() - file.substr(file.rfind("metadata/")).size());
    lines_ = std::make_unique<LineReader>(std::move(window));
  }

  // False when the image is to be left out.
  bool read_image(Record& record, std::string_view line) {
    std::array<std::string_view, 4> words;
    size_t at = 0;
    for (std::string_view& word : words) {
      at = line.find_first_not_of(' ', at);
      if (at == line.npos) break;
      word = line.substr(at, line.find(' ', at) - at);
      at += word.size();
    }
    const Window& window = lines_->window();
    if (words[3].empty())
      window.fail(lines_->line(), line.size(), "a line is: folder, file, number, label, ...");
    record.column = static_cast<size_t>(words[3].data() - line.data()) + 1;
    label_ = words[3];
    const std::string image = fmt::format("{}{}/{}", folder_, words[0], words[1]);
    // Only what the folder was seen to hold is opened: a line cannot name a file elsewhere.
    if (!std::binary_search(tree_->files().begin(), tree_->files().end(), image))
      window.fail(lines_->line(), 1, "no image " + printable(image, 200));
    const std::string path = place_of(tree_->path_of(image));
    const std::string file = read_all(*tree_->open(image), kMaxImage, path);
    if (file.empty()) return false;
    decode_png(file, path, pixels_);
    record.text = pixels_;
    record.labels.push_back(label_);
    record.file = window.name();
    record.line = lines_->line();
    return true;
  }

  std::unique_ptr<FileTree> tree_;
  size_t limit_, at_ = 0;
  std::vector<std::string> metadata_;
  std::unique_ptr<LineReader> lines_;
  std::string folder_, label_, pixels_;
};

bool matches(const Input& input) {
  return std::any_of(input.tree->files().begin(), input.tree->files().end(), is_metadata);
}

std::vector<std::string> splits(const Input&) { return {}; }

std::unique_ptr<RecordReader> open(Input input, const ReadOptions& options) {
  if (!input.tree->random_access()) {
    throw Error(
        fmt::format("[{}] unpack it first: in an archive every image would be looked for "
                    "from its start",
                    place_of(input.path)));
  }
  return std::make_unique<PathfinderReader>(std::move(input.tree), options.record_limit);
}

}  // namespace

extern const Format kPathfinder = {
    .name = "pathfinder",
    .summary = "Pathfinder of the Long Range Arena: a folder with metadata/*.npy and PNG images",
    .layout = "imgs/0 sample_7.png 7 1 ...",
    .takes_folders = true,
    .takes_files = false,
    .pixels = true,
    .matches = matches,
    .splits = splits,
    .open = open,
};

}  // namespace linnet
