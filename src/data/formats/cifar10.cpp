// cifar10.cpp -- CIFAR-10 in binary batches: a byte for the class, then 3072 bytes of colour (a
// plane for red, green and blue each) or 1024 of grey; a record is 32 x 32 grey pixels, row by row.
//
// Grey as TensorFlow's rgb_to_grayscale has it, which LRA uses:
//   trunc(255.5 (0.2989 R + 0.5870 G + 0.1140 B) / 255), in float.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/file.h"
#include "data/formats.h"

namespace linnet {
namespace {

constexpr size_t kPixels = 32 * 32, kGrey = 1 + kPixels, kColour = 1 + 3 * kPixels;
// Sorted, so that their order as labels is that of their numbers.
constexpr std::array<std::string_view, 10> kClasses = {
    "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"};

// Whether all first bytes of records of this size can be classes, in what is seen of a file.
bool fits(std::string_view head, size_t record) {
  for (size_t at = 0; at < head.size(); at += record) {
    if (static_cast<unsigned char>(head[at]) >= kClasses.size()) return false;
  }
  return head.size() >= record;
}

void to_grey(const unsigned char* colour, char* grey) {
  for (size_t i = 0; i < kPixels; ++i) {
    const float y = 0.2989f * static_cast<float>(colour[i]) +
                    0.5870f * static_cast<float>(colour[i + kPixels]) +
                    0.1140f * static_cast<float>(colour[i + 2 * kPixels]);
    grey[i] = static_cast<char>(static_cast<unsigned char>(y * (255.5f / 255.0f)));
  }
}

class Cifar10Reader : public RecordReader {
 public:
  Cifar10Reader(std::string name, std::vector<Window> windows)
      : RecordReader(std::move(name)), windows_(std::move(windows)) {
    for (Window& window : windows_) window.ensure(kHead);
  }
  double done() const override {
    return (static_cast<double>(at_) + (at_ < windows_.size() ? windows_[at_].done() : 0)) /
           static_cast<double>(windows_.size());
  }

 protected:
  bool read(Record& record) override {
    if (used_ > 0) windows_[at_].drop(used_, 1);
    used_ = 0;
    while (at_ < windows_.size() && windows_[at_].size() == 0 && !windows_[at_].more()) ++at_;
    if (at_ == windows_.size()) return false;
    Window& window = windows_[at_];
    if (window.line() == 1) size_ = record_size(window);
    window.ensure(size_);
    if (window.size() < size_) {
      window.fail(window.line(), 1,
                  fmt::format("the last record has {} bytes, not {}", window.size(), size_));
    }
    const auto* bytes = reinterpret_cast<const unsigned char*>(window.data());
    if (bytes[0] >= kClasses.size())
      window.fail(window.line(), 1, fmt::format("class {} is not in 0 to 9", bytes[0]));
    used_ = size_;
    record.labels.push_back(kClasses[bytes[0]]);
    record.text = {window.data() + 1, kPixels};
    if (size_ == kColour) {
      to_grey(bytes + 1, grey_.data());
      record.text = {grey_.data(), kPixels};
    }
    record.file = window.name();
    record.line = window.line();
    return true;
  }

 private:
  static constexpr size_t kHead = size_t{1} << 16;

  // Colour and grey differ in the size of a record alone: the classes must stand where it says.
  static size_t record_size(Window& window) {
    window.ensure(kHead);
    const std::string_view head(window.data(), std::min(window.size(), kHead));
    const bool whole = window.size() < kHead;
    for (const size_t size : {kColour, kGrey}) {
      if (fits(head, size) && (!whole || head.size() % size == 0)) return size;
    }
    window.fail(1, 1, "is no CIFAR-10 batch: records have 3073 bytes (colour) or 1025 (grey)");
  }

  std::vector<Window> windows_;
  size_t at_ = 0, used_ = 0, size_ = 0;
  std::array<char, kPixels> grey_;
};

bool is_batch(std::string_view file, std::string_view split) {
  const size_t slash = file.rfind('/');
  const std::string_view name = slash == file.npos ? file : file.substr(slash + 1);
  if (split == "test") return name == "test_batch.bin";
  return name.starts_with("data_batch_") && name.ends_with(".bin");
}

bool has_split(const FileTree& tree, std::string_view split) {
  return std::any_of(tree.files().begin(), tree.files().end(),
                     [&](const std::string& file) { return is_batch(file, split); });
}

bool matches(const Input& input) {
  if (input.tree) return has_split(*input.tree, "train");
  return input.name.ends_with(".bin") && (fits(input.head(), kColour) || fits(input.head(), kGrey));
}

std::vector<std::string> splits(const Input& input) {
  std::vector<std::string> found = {"train"};
  if (has_split(*input.tree, "test")) found.emplace_back("test");
  return found;
}

std::unique_ptr<RecordReader> open(Input input, const ReadOptions& options) {
  std::vector<Window> windows;
  if (input.window) {
    windows.push_back(std::move(*input.window));
    return std::make_unique<Cifar10Reader>(input.path, std::move(windows));
  }
  const std::string split = options.split.empty() ? "train" : options.split;
  for (const std::string& file : input.tree->files()) {
    if ((split == "train" || split == "test") && is_batch(file, split)) {
      windows.emplace_back(input.tree->open(file), input.tree->path_of(file), options.record_limit);
    }
  }
  if (windows.empty()) {
    throw Error(fmt::format("[{}] has no batches of the split {}", place_of(input.path),
                            printable(split, 40)));
  }
  return std::make_unique<Cifar10Reader>(input.path, std::move(windows));
}

}  // namespace

extern const Format kCifar10 = {
    .name = "cifar10",
    .summary = "CIFAR-10 binary batches, colour or grey: a file, the folder or its tar",
    .layout = "1 byte class, 3072 bytes colour or 1024 grey",
    .takes_folders = true,
    .takes_files = true,
    .pixels = true,
    .matches = matches,
    .splits = splits,
    .open = open,
};

}  // namespace linnet
