// libarchive.h -- libarchive's reader over Blocks: what goes wrong on either side is an Error.
#pragma once

#include <archive.h>

#include <exception>
#include <memory>
#include <string>
#include <string_view>

#include "data/blocks.h"

namespace linnet {

class LibarchiveReader {
 public:
  // `path` is for messages.
  explicit LibarchiveReader(const std::string& path);
  LibarchiveReader(const LibarchiveReader&) = delete;
  LibarchiveReader& operator=(const LibarchiveReader&) = delete;

  struct archive* get() const {
    return archive_.get();
  }
  // Goes on with `blocks` after `first`, which was taken from it already.
  void open(Blocks& blocks, std::string_view first);
  // A regular file, in which libarchive may seek.
  void open(const FileBlocks& file);
  // With libarchive's reason, or the Error that the blocks ended with.
  [[noreturn]] void fail() const;
  // Whether something but zeros is left after what libarchive has used of the blocks.
  bool anything_left();

 private:
  static la_ssize_t read_block(struct archive*, void* self, const void** block);
  void take_block();
  struct Free {
    void operator()(struct archive* archive) const { archive_read_free(archive); }
  };

  std::string path_;
  Blocks* blocks_ = nullptr;
  std::string_view block_;  // the last one given
  std::string before_;      // the last bytes before it
  int64_t given_ = 0;       // bytes
  bool started_ = false;
  std::exception_ptr fault_;
  std::unique_ptr<struct archive, Free> archive_;
};

}  // namespace linnet
