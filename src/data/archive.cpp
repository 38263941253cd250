// archive.cpp -- calls of libarchive, their faults turned into Errors.
#include "data/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.h"
#include "core/file.h"
#include "data/ascii.h"

namespace linnet {
namespace {

constexpr size_t kBlock = size_t{1} << 18;

int open_file(const std::string& path, int64_t& size) {
  if (path == "-") return STDIN_FILENO;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status = {};
  if (fd < 0 || ::fstat(fd, &status) != 0) {
    throw Error(fmt::format("[{}] cannot open: {}", place_of(path), std::strerror(errno)));
  }
  if (S_ISDIR(status.st_mode)) {
    ::close(fd);
    throw Error(fmt::format("[{}] is a folder, not a file", place_of(path)));
  }
  if (S_ISREG(status.st_mode)) size = status.st_size;
  return fd;
}

}  // namespace

bool is_archive_name(const std::string& path) {
  const std::string name = lower_case(path);
  for (const char* end : {".tar", ".tar.gz", ".tar.xz", ".tar.zst", ".tar.bz2", ".tar.lz4", ".tgz",
                          ".txz", ".tzst", ".tbz2", ".zip"}) {
    if (name.ends_with(end)) return true;
  }
  return false;
}

Archive::Archive(const std::string& path, Kind kind) : path_(path), fd_(open_file(path, size_)) {
  archive_ = archive_read_new();
  // Not archive_read_support_filter_all: it has filters that a text may look like (uuencode), and
  // some that start programs.
  archive_read_support_filter_gzip(archive_);
  archive_read_support_filter_bzip2(archive_);
  archive_read_support_filter_xz(archive_);
  archive_read_support_filter_zstd(archive_);
  archive_read_support_filter_lz4(archive_);
  if (kind == Kind::kStream) {
    archive_read_support_format_raw(archive_);
  } else {
    archive_read_support_format_tar(archive_);
    archive_read_support_format_zip(archive_);
  }
  archive_read_support_format_empty(archive_);
  if (archive_read_open_fd(archive_, fd_, kBlock) != ARCHIVE_OK) {
    const std::string reason = archive_error_string(archive_) ? archive_error_string(archive_) : "";
    archive_read_free(archive_);
    if (fd_ != STDIN_FILENO) ::close(fd_);
    throw Error(fmt::format("[{}] cannot read: {}", place_of(path_), printable(reason, 200)));
  }
}

Archive::~Archive() {
  archive_read_free(archive_);
  if (fd_ != STDIN_FILENO) ::close(fd_);
}

void Archive::fail(const char* what) const {
  const char* reason = archive_error_string(archive_);
  throw Error(fmt::format("[{}] {}: {}", path_ == "-" ? "standard input" : place_of(path_), what,
                          printable(reason ? reason : "unknown fault", 200)));
}

bool Archive::next() {
  archive_entry* entry = nullptr;
  for (;;) {
    const int result = archive_read_next_header(archive_, &entry);
    if (result == ARCHIVE_EOF) return false;
    if (result < ARCHIVE_WARN) fail("cannot unpack");
    // A stream's entry has a type of its own making; a hard link has no bytes.
    if (archive_entry_filetype(entry) == AE_IFREG && !archive_entry_hardlink(entry)) break;
  }
  // In the C locale only the second form exists of a name that is not ASCII.
  const char* name = archive_entry_pathname(entry);
  if (name == nullptr) name = archive_entry_pathname_utf8(entry);
  name_ = name ? name : "";
  while (name_.starts_with("./")) name_.erase(0, 2);
  return true;
}

size_t Archive::read(char* into, size_t room) {
  for (;;) {
    const la_ssize_t n = archive_read_data(archive_, into, room);
    if (n >= 0) return static_cast<size_t>(n);
    if (n != ARCHIVE_RETRY && n != ARCHIVE_WARN) fail("cannot unpack");
  }
}

double Archive::done() const {
  if (size_ == 0) return -1;
  return static_cast<double>(archive_filter_bytes(archive_, -1)) / static_cast<double>(size_);
}

}  // namespace linnet
