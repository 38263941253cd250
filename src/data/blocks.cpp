// blocks.cpp -- reads files block by block.
#include "data/blocks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.h"
#include "core/file.h"

namespace linnet {
namespace {

std::string source_of(const std::string& path) {
  return path == "-" ? "standard input" : place_of(path);
}

}  // namespace

FileBlocks::FileBlocks(const std::string& path) : path_(path) {
  if (path == "-") return;  // its descriptor is 0
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status = {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0)
    throw Error(fmt::format("[{}] cannot open: {}", place_of(path), std::strerror(errno)));
  if (S_ISDIR(status.st_mode)) {
    ::close(descriptor_);
    throw Error(fmt::format("[{}] is a folder, not a file", place_of(path)));
  }
  if (S_ISREG(status.st_mode)) size_ = status.st_size;
}

FileBlocks::~FileBlocks() {
  if (descriptor_ > 0) ::close(descriptor_);
}

std::string_view FileBlocks::next() {
  if (!block_) block_ = std::make_unique_for_overwrite<char[]>(kBlockBytes);
  const size_t least = read_ == 0 ? 2 : 1;
  size_t size = 0;
  while (size < least) {
    const ssize_t n = ::read(descriptor_, block_.get() + size, kBlockBytes - size);
    if (n == 0) break;
    if (n < 0 && errno != EINTR)
      throw Error(fmt::format("[{}] cannot read: {}", source_of(path_), std::strerror(errno)));
    if (n > 0) size += static_cast<size_t>(n);
  }
  read_ += static_cast<int64_t>(size);
  return {block_.get(), size};
}

double FileBlocks::done(int64_t bytes) const {
  return size_ == 0 ? -1 : static_cast<double>(bytes) / static_cast<double>(size_);
}

void cannot_unpack(const std::string& path, std::string_view reason) {
  throw Error(fmt::format("[{}] cannot unpack: {}", source_of(path), printable(reason, 200)));
}

}  // namespace linnet
