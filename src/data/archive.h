// archive.h -- the files of a tar, packed or not, or of a zip.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "data/unpacked.h"

namespace linnet {

// Whether the name is one of an archive of files: .tar, .tar.gz, .tgz, .zip, ...
bool is_archive_name(const std::string& path);

// Reads in order, in constant memory. Every fault of the file is an Error with its path.
class Archive {
 public:
  explicit Archive(const std::string& path);

  // Goes to the next regular file. False at the end, which a packed tar has been read and checked
  // to.
  bool next();
  // The name of the file within the archive, "train/pos/0_9.txt".
  const std::string& name() const { return name_; }
  // At most `room` bytes of the file; 0 at its end.
  size_t read(char* into, size_t room);
  // Share of the packed bytes that were read so far; -1 when the size is unknown.
  double done() const;

 private:
  std::string name_;
  std::unique_ptr<Unpacked> unpacked_;  // of a packed tar
  FileBlocks file_;                     // else
  LibarchiveReader reader_;
};

}  // namespace linnet
