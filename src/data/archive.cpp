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

}  // namespace

bool is_archive_name(const std::string& path) {
  const std::string name = lower_case(path);
  for (const char* end : {".tar", ".tar.gz", ".tar.xz", ".tar.zst", ".tar.bz2", ".tar.lz4", ".tgz",
                          ".txz", ".tzst", ".tbz2", ".zip"}) {
    if (name.ends_with(end)) return true;
  }
  return false;
}

Archive::File::File(const std::string& path) {
  if (path == "-") return;  // its descriptor is 0
  fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status = {};
  if (fd < 0 || ::fstat(fd, &status) != 0)
    throw Error(fmt::format("[{}] cannot open: {}", place_of(path), std::strerror(errno)));
  if (S_ISDIR(status.st_mode)) {
    ::close(fd);
    throw Error(fmt::format("[{}] is a folder, not a file", place_of(path)));
  }
  if (S_ISREG(status.st_mode)) size = status.st_size;
}

Archive::File::~File() {
  if (fd > 0) ::close(fd);
}

void Archive::Free::operator()(struct archive* archive) const { archive_read_free(archive); }

Archive::Archive(const std::string& path, Kind kind)
    : path_(path), file_(path), archive_(archive_read_new()) {
  struct archive* a = archive_.get();
  // Not archive_read_support_filter_all: it has filters that a text may look like (uuencode), and
  // some that start programs.
  archive_read_support_filter_gzip(a);
  archive_read_support_filter_bzip2(a);
  archive_read_support_filter_xz(a);
  archive_read_support_filter_zstd(a);
  archive_read_support_filter_lz4(a);
  if (kind == Kind::kStream) {
    archive_read_support_format_raw(a);
  } else {
    archive_read_support_format_tar(a);
    archive_read_support_format_zip(a);
  }
  archive_read_support_format_empty(a);
  if (archive_read_open_fd(a, file_.fd, kBlock) != ARCHIVE_OK) fail();
}

void Archive::fail() const {
  const char* reason = archive_error_string(archive_.get());
  throw Error(fmt::format("[{}] cannot unpack: {}",
                          path_ == "-" ? "standard input" : place_of(path_),
                          printable(reason ? reason : "unknown fault", 200)));
}

bool Archive::next() {
  archive_entry* entry = nullptr;
  for (;;) {
    const int result = archive_read_next_header(archive_.get(), &entry);
    if (result == ARCHIVE_EOF) return false;
    if (result < ARCHIVE_WARN) fail();
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
    const la_ssize_t n = archive_read_data(archive_.get(), into, room);
    if (n >= 0) return static_cast<size_t>(n);
    if (n != ARCHIVE_RETRY && n != ARCHIVE_WARN) fail();
  }
}

double Archive::done() const {
  if (file_.size == 0) return -1;
  return static_cast<double>(archive_filter_bytes(archive_.get(), -1)) /
         static_cast<double>(file_.size);
}

}  // namespace linnet
