// log_file.cpp -- appends by one write a record.
#include "core/log_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "core/error.h"
#include "core/file.h"

namespace linnet {

LogFile::LogFile(std::filesystem::path path, int64_t keep)
    : path_(std::move(path)),
      file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
  if (file_ < 0) fail(errno);
  const int64_t old = ::lseek(file_, 0, SEEK_END);
  size_ = std::min(old, keep);
  if (old >= 0 && (old == size_ || ::ftruncate(file_, size_) == 0)) return;
  const int error = errno;
  ::close(file_);
  fail(error);
}

LogFile::~LogFile() { ::close(file_); }

void LogFile::fail(int error) const {
  throw Error(fmt::format("[{}] cannot write: {}", place_of(path_),
                          std::generic_category().message(error)));
}

void LogFile::append(std::string_view record) {
  const int64_t end = size_ + static_cast<int64_t>(record.size());
  while (!record.empty()) {
    const ssize_t n = ::write(file_, record.data(), record.size());
    if (n > 0) record.remove_prefix(static_cast<size_t>(n));
    if (n >= 0 || errno == EINTR) continue;
    const int error = errno;
    // Where even that fails, the first fault is the one to tell of.
    [[maybe_unused]] const int cut = ::ftruncate(file_, size_);
    fail(error);
  }
  size_ = end;
}

void LogFile::sync() {
  // EINVAL: not a file that could be synced, e.g. a pipe.
  if (::fsync(file_) != 0 && errno != EINVAL) fail(errno);
  if (!is_there())
    throw Error(fmt::format("[{}] was removed or replaced while it was written", place_of(path_)));
}

bool LogFile::is_there() const {
  struct stat open = {}, there = {};
  return ::fstat(file_, &open) == 0 && ::stat(path_.c_str(), &there) == 0 &&
         open.st_dev == there.st_dev && open.st_ino == there.st_ino;
}

}  // namespace linnet
