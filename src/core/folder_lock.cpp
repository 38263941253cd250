// folder_lock.cpp -- flock on a file of the folder: the kernel lets go of it when a process dies.
#include "core/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.h"
#include "core/file.h"

namespace linnet {

FolderLock::FolderLock(const std::filesystem::path& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure)
    throw Error(
        fmt::format("[{}] cannot make the folder: {}", place_of(folder), failure.message()));
  const std::filesystem::path path = folder / ".lock";
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0)
    throw Error(fmt::format("[{}] cannot open: {}", place_of(path), std::strerror(errno)));
  if (::flock(file_, LOCK_EX | LOCK_NB) == 0) {
    remove_temporaries(folder);
    return;
  }
  ::close(file_);
  throw Error(fmt::format("[{}] another run is at work in this folder", place_of(folder)));
}

FolderLock::~FolderLock() { ::close(file_); }

}  // namespace linnet
