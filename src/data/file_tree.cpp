// file_tree.cpp -- lists folders and archives; walks them.
#include "data/file_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "core/file.h"
#include "data/archive.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

// Enough for every layout; and a slip such as "/" ends soon, with a sentence.
constexpr int kMaxDepth = 5;
constexpr size_t kMaxFiles = 4'000'000;
// Names are packed well, a hundred to one and more, and a list of them is copied once or twice.
constexpr size_t kMaxName = 4096, kMaxNameMemory = size_t{128} << 20;  // bytes

// The names of a folder or archive, as many as fit in the memory that they may have.
class NameList {
 public:
  explicit NameList(const std::string& path) : path_(path) {}
  void add(std::string name) {
    const auto fail = [&](const std::string& what) {
      throw Error(fmt::format("[{}] {}", place_of(path_), what));
    };
    if (name.size() > kMaxName) fail(fmt::format("has a name of {} bytes", name.size()));
    memory_ += sizeof name + name.size();
    if (memory_ > kMaxNameMemory)
      fail(fmt::format("the names of its files take more than {} MiB", kMaxNameMemory >> 20));
    if (names_.size() == kMaxFiles) fail(fmt::format("has more than {} files", kMaxFiles));
    names_.push_back(std::move(name));
  }
  std::vector<std::string> take() { return std::move(names_); }

 private:
  const std::string& path_;
  std::vector<std::string> names_;
  size_t memory_ = 0;
};

bool is_hidden(const std::string& name) {
  return name.starts_with('.') || name.find("/.") != name.npos || name.starts_with("__MACOSX/");
}

// The first folder of the names, with its slash, when all have the same; else empty.
std::string shared_top(const std::vector<std::string>& files) {
  if (files.empty()) return "";
  const size_t slash = files[0].find('/');
  if (slash == std::string::npos) return "";
  const std::string top = files[0].substr(0, slash + 1);
  const bool all = std::all_of(files.begin(), files.end(),
                               [&](const std::string& file) { return file.starts_with(top); });
  return all ? top : "";
}

class ListWalk : public FileWalk {
 public:
  ListWalk(const FileTree& tree, std::vector<std::string> files)
      : tree_(tree), files_(std::move(files)) {}
  bool next() override {
    if (at_ == files_.size()) return false;
    name_ = files_[at_++];
    source_ = tree_.open(name_);
    return true;
  }
  const std::string& name() const override { return name_; }
  size_t read(char* into, size_t room) override { return source_->read(into, room); }
  double done() const override {
    return static_cast<double>(at_) / static_cast<double>(std::max<size_t>(files_.size(), 1));
  }

 private:
  const FileTree& tree_;
  std::vector<std::string> files_;
  size_t at_ = 0;
  std::string name_;
  std::unique_ptr<ByteSource> source_;
};

class ArchiveWalk : public FileWalk {
 public:
  ArchiveWalk(const std::string& path, std::string front, std::vector<std::string> files)
      : archive_(path), front_(std::move(front)), files_(std::move(files)) {
    std::sort(files_.begin(), files_.end());
  }
  bool next() override {
    while (archive_.next()) {
      if (!archive_.name().starts_with(front_)) continue;
      name_ = archive_.name().substr(front_.size());
      if (std::binary_search(files_.begin(), files_.end(), name_)) return true;
    }
    return false;
  }
  const std::string& name() const override { return name_; }
  size_t read(char* into, size_t room) override { return archive_.read(into, room); }
  double done() const override { return archive_.done(); }

 private:
  Archive archive_;
  std::string front_, name_;
  std::vector<std::string> files_;  // sorted
};

std::vector<std::string> list_folder(const std::string& path) {
  NameList files(path);
  std::error_code error;
  fs::recursive_directory_iterator at(path, error);
  const size_t front = (fs::path(path) / "").string().size();
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (at.depth() >= kMaxDepth) at.disable_recursion_pending();
    if (at->is_regular_file(error)) files.add(at->path().string().substr(front));
  }
  if (error) throw Error(fmt::format("[{}] cannot list: {}", place_of(path), error.message()));
  return files.take();
}

class FolderTree : public FileTree {
 public:
  explicit FolderTree(const std::string& path) : FileTree(path, list_folder(path)) {}
};

// The names of an archive cost a pass over it; the paper's IMDb (84 MB of .tar.gz) takes a second.
std::vector<std::string> list_archive(const std::string& path, const std::string& folder) {
  NameList files(path);
  Archive archive(path);
  while (archive.next()) {
    if (!archive.name().starts_with(folder)) continue;
    files.add(archive.name().substr(folder.size()));
  }
  return files.take();
}

class ArchiveTree : public FileTree {
 public:
  // `folder` is empty or ends with a slash.
  ArchiveTree(const std::string& path, const std::string& folder)
      : FileTree(path, list_archive(path, folder)) {
    top_ = folder + top_;
  }
  bool random_access() const override { return false; }
  std::unique_ptr<FileWalk> walk(std::vector<std::string> files) const override {
    return std::make_unique<ArchiveWalk>(path_, top_, std::move(files));
  }
};

class MemoryTree : public FileTree {
 public:
  MemoryTree(std::string path, std::map<std::string, std::string> files)
      : FileTree(std::move(path), names(files)), content_(std::move(files)) {}
  std::unique_ptr<ByteSource> open(const std::string& file) const override {
    const auto found = content_.find(top_ + file);
    if (found == content_.end()) throw Error(fmt::format("[{}] cannot open", path_of(file)));
    return bytes_of(found->second);
  }

 private:
  static std::vector<std::string> names(const std::map<std::string, std::string>& files) {
    std::vector<std::string> result;
    for (const auto& [name, content] : files) result.push_back(name);
    return result;
  }
  std::map<std::string, std::string> content_;
};

}  // namespace

FileTree::FileTree(std::string path, std::vector<std::string> files) : path_(std::move(path)) {
  while (path_.size() > 1 && path_.ends_with('/')) path_.pop_back();
  std::erase_if(files, is_hidden);
  std::sort(files.begin(), files.end());
  top_ = shared_top(files);
  for (std::string& file : files) file.erase(0, top_.size());
  files_ = std::move(files);
}

std::unique_ptr<ByteSource> FileTree::open(const std::string& file) const {
  return open_bytes(path_of(file));
}

std::unique_ptr<FileWalk> FileTree::walk(std::vector<std::string> files) const {
  return std::make_unique<ListWalk>(*this, std::move(files));
}

std::unique_ptr<FileTree> open_tree(const std::string& path) {
  std::error_code error;
  if (path == "-") return nullptr;
  if (fs::is_directory(path, error)) return std::make_unique<FolderTree>(path);
  const auto [archive, inner] = split_archive_path(path);
  if (!is_archive_name(archive) || !fs::is_regular_file(archive, error)) return nullptr;
  if (inner.empty()) return std::make_unique<ArchiveTree>(archive, "");
  auto tree = std::make_unique<ArchiveTree>(archive, inner.ends_with('/') ? inner : inner + "/");
  return tree->files().empty() ? nullptr : std::move(tree);
}

std::unique_ptr<FileTree> tree_of(std::string path, std::map<std::string, std::string> files) {
  return std::make_unique<MemoryTree>(std::move(path), std::move(files));
}

}  // namespace linnet
