// file_tree.h -- the files of a folder, and of a tar or zip as if it were a folder.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "data/byte_source.h"

namespace linnet {

// Files one after the other; read() gives the bytes of the one that next() went to.
class FileWalk : public ByteSource {
 public:
  virtual bool next() = 0;
  virtual const std::string& name() const = 0;
};

class FileTree {
 public:
  virtual ~FileTree() = default;
  const std::string& path() const { return path_; }
  // Names below the folder, sorted, "train/pos/0_9.txt". Hidden files are left out, and a folder
  // that holds everything is no part of the names.
  const std::vector<std::string>& files() const { return files_; }
  // The path that open_bytes takes, for messages too.
  std::string path_of(const std::string& file) const { return path_ + "/" + top_ + file; }
  virtual std::unique_ptr<ByteSource> open(const std::string& file) const;
  // Whether open() goes to a file at once; in an archive it reads all that comes before.
  virtual bool random_access() const { return true; }
  // Some of the files: of a folder in the given order, of an archive in the archive's own, since it
  // can only be read from its beginning to its end.
  virtual std::unique_ptr<FileWalk> walk(std::vector<std::string> files) const;

 protected:
  FileTree(std::string path, std::vector<std::string> files);
  std::string path_, top_;
  std::vector<std::string> files_;
};

// A folder or an archive, also FILE.tar/FOLDER; null when the path is a file.
std::unique_ptr<FileTree> open_tree(const std::string& path);

// Files in memory, for tests.
std::unique_ptr<FileTree> tree_of(std::string path, std::map<std::string, std::string> files);

}  // namespace linnet
