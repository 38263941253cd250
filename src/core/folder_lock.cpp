// folder_lock.cpp -- flock on a file of the folder: the kernel lets go of it when a process dies.
#include "core/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.h"
#include "core/file.h"
#include "core/folder.h"

namespace linnet {
namespace {

// Whether the path is the file that was opened: its last holder may have removed it in between.
bool is_at(int file, const std::filesystem::path& path) {
  struct stat open = {}, there = {};
  return ::fstat(file, &open) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         open.st_dev == there.st_dev && open.st_ino == there.st_ino;
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder)
    : made_(make_folders(folder)), path_(folder / ".lock") {
  for (;;) {
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file_ < 0) {
      const int error = errno;
      remove_empty_folders(made_);
      throw Error(fmt::format("[{}] cannot open: {}", place_of(path_), std::strerror(error)));
    }
    const bool held = ::flock(file_, LOCK_EX | LOCK_NB) == 0;
    if (held && is_at(file_, path_)) break;
    ::close(file_);
    if (!held)
      throw Error(fmt::format("[{}] another run is at work in this folder", place_of(folder)));
  }
  remove_temporaries(folder);
}

FolderLock::~FolderLock() {
  // While it is held: whoever waits at this file sees that it is gone, and makes another. One with
  // content is not linnet's.
  struct stat status = {};
  const bool there = is_at(file_, path_);
  if (there && ::fstat(file_, &status) == 0 && status.st_size == 0) ::unlink(path_.c_str());
  ::close(file_);
  if (there) remove_empty_folders(made_);  // else others have made the folder anew
}

}  // namespace linnet
