// aclimdb.cpp -- IMDb reviews as their makers have them: aclImdb/train/pos/0_9.txt, as a folder or
// as aclImdb_v1.tar.gz; Maas et al., "Learning word vectors for sentiment analysis", ACL 2011.
//
// A folder is read neg by id, then pos by id; a tar in its own order.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/error.h"
#include "core/file.h"
#include "data/formats.h"

namespace linnet {
namespace {

// "train/pos/12_9.txt" or, when the folder of a split was given, "pos/12_9.txt".
struct ReviewName {
  std::string_view split;  // empty when the folder is that of one split
  std::string_view label;  // neg, pos or unsup
  int64_t id = -1;         // -1: no review
};

ReviewName parse_name(std::string_view file) {
  ReviewName name;
  const size_t slash = file.rfind('/');
  if (slash == file.npos || !file.ends_with(".txt")) return {};
  const std::string_view folder = file.substr(0, slash), base = file.substr(slash + 1);
  const size_t above = folder.rfind('/');
  name.label = folder.substr(above == folder.npos ? 0 : above + 1);
  if (above != folder.npos) name.split = folder.substr(0, above);
  if (name.label != "neg" && name.label != "pos" && name.label != "unsup") return {};
  if (!name.split.empty() && name.split != "train" && name.split != "test") return {};
  const char* end = base.data() + base.size();
  const auto [rest, error] = std::from_chars(base.data(), end, name.id);
  if (error != std::errc() || rest == end || *rest != '_') return {};
  return name;
}

std::string split_of(const ReviewName& name) {
  if (name.label == "unsup") return "unlabelled";
  return std::string(name.split);
}

class AclImdbReader : public RecordReader {
 public:
  AclImdbReader(std::unique_ptr<FileTree> tree, const std::string& split, size_t limit)
      : RecordReader(tree->path()), tree_(std::move(tree)), limit_(limit) {
    std::vector<std::string> files;
    for (const std::string& file : tree_->files()) {
      const ReviewName name = parse_name(file);
      const std::string found = split_of(name);
      if (name.id >= 0 && (found == split || (found.empty() && split == "train")))
        files.push_back(file);
    }
    if (files.empty()) {
      throw Error(fmt::format("[{}] has no reviews of the split {}", place_of(tree_->path()),
                              printable(split, 40)));
    }
    std::sort(files.begin(), files.end(), [](const std::string& a, const std::string& b) {
      const ReviewName x = parse_name(a), y = parse_name(b);
      return std::tie(x.label, x.id, a) < std::tie(y.label, y.id, b);
    });
    walk_ = tree_->walk(std::move(files));
  }
  double done() const override { return walk_->done(); }

 protected:
  bool read(Record& record) override {
    if (!walk_->next()) return false;
    file_ = tree_->path_of(walk_->name());
    text_ = read_all(*walk_, limit_, place_of(file_));
    record.text = text_;
    record.file = file_;
    record.line = 1;
    const std::string_view label = parse_name(walk_->name()).label;
    if (label != "unsup") record.labels.push_back(label);
    return true;
  }

 private:
  std::unique_ptr<FileTree> tree_;
  std::unique_ptr<FileWalk> walk_;
  size_t limit_;
  std::string file_, text_;
};

bool matches(const Input& input) {
  bool neg = false, pos = false;
  for (const std::string& file : input.tree->files()) {
    const ReviewName name = parse_name(file);
    if (name.id < 0) continue;
    neg |= name.label == "neg";
    pos |= name.label == "pos";
  }
  return neg && pos;
}

std::vector<std::string> splits(const Input& input) {
  std::vector<std::string> found;
  for (const char* split : {"train", "test", "unlabelled"}) {
    const auto& files = input.tree->files();
    if (std::any_of(files.begin(), files.end(), [&](const std::string& file) {
          const ReviewName name = parse_name(file);
          return name.id >= 0 && split_of(name) == split;
        })) {
      found.emplace_back(split);
    }
  }
  return found;
}

std::unique_ptr<RecordReader> open(Input input, const ReadOptions& options) {
  return std::make_unique<AclImdbReader>(
      std::move(input.tree), options.split.empty() ? "train" : options.split, options.record_limit);
}

}  // namespace

extern const Format kAclImdb = {
    .name = "aclimdb",
    .summary = "IMDb reviews as aclImdb has them, a folder or a tar; labels neg and pos",
    .layout = "train/pos/0_9.txt",
    .takes_folders = true,
    .takes_files = false,
    .pixels = false,
    .matches = matches,
    .splits = splits,
    .open = open,
};

}  // namespace linnet
