// folder_lock.h -- one writer at a time in a folder.
#pragma once

#include <filesystem>

namespace linnet {

// Held until it is destroyed, or until the process ends in any way. Makes the folder where there is
// none, and removes the temporaries that killed writers left in it. A folder that another process
// holds is an Error.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int file_;
};

}  // namespace linnet
