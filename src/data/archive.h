// archive.h -- libarchive behind a small class: compressed streams, and the files of tar and zip.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

struct archive;
struct archive_entry;

namespace linnet {

// Whether the name is one of an archive of files: .tar, .tar.gz, .tgz, .zip, ...
bool is_archive_name(const std::string& path);

// Reads in order, in constant memory. Every fault of the file is an Error with its path.
class Archive {
 public:
  enum class Kind {
    kStream,  // one file, packed by gzip, bzip2, xz, zstd, lz4 or not at all, seen by its first
              // bytes
    kFiles,   // tar, packed or not, or zip
  };
  // "-" is standard input.
  Archive(const std::string& path, Kind kind);

  // Goes to the next regular file; false at the end. Of a stream there is one, or none if empty.
  bool next();
  // The name of the file within the archive, "train/pos/0_9.txt".
  const std::string& name() const { return name_; }
  // At most `room` bytes of the file; 0 at its end.
  size_t read(char* into, size_t room);
  // Share of the packed bytes that were read so far; -1 when the size is unknown.
  double done() const;

 private:
  [[noreturn]] void fail() const;

  // Closed at the end, but for standard input.
  class File {
   public:
    explicit File(const std::string& path);
    ~File();
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    int fd = 0;
    int64_t size = 0;  // 0 when unknown
  };
  struct Free {
    void operator()(struct archive* archive) const;
  };

  std::string path_, name_;
  File file_;
  std::unique_ptr<struct archive, Free> archive_;
};

}  // namespace linnet
