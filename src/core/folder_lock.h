// folder_lock.h -- one writer at a time in a folder.
#pragma once

#include <filesystem>
#include <vector>

namespace linnet {

// Held until it is destroyed, or until the process ends in any way. Makes the folder where there is
// none, and removes the temporaries that killed writers left in it. A folder that another process
// holds is an Error. At its end it removes its file, and the folders that it made if nothing was
// put there.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  std::vector<std::filesystem::path> made_;
  std::filesystem::path path_;
  int file_;
};

}  // namespace linnet
