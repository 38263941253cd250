// folder.h -- folders are made, marked as linnet's own, and only those are removed with all in
// them.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace linnet {

// Makes the folder and those above it, as far as they are missing, and returns what it made from
// the top down.
std::vector<std::filesystem::path> make_folders(const std::filesystem::path& folder);
// Takes that back, as far as nothing is in them.
void remove_empty_folders(std::span<const std::filesystem::path> made);

// Likewise, and a folder that it makes itself gets a file .linnet, which says so. One that is there
// stays as it is: linnet's own or not.
void make_own_folder(const std::filesystem::path& folder);
// Whether linnet made and marked it. A link is no folder of its own.
bool is_own_folder(const std::filesystem::path& folder);
// Removes it with all in it, or returns false and touches nothing: it is not linnet's own. None at
// all is as good as removed.
bool remove_own_folder(const std::filesystem::path& folder);

// Removes what killed writers left in a folder, for who knows that no other is at work there.
void remove_temporaries(const std::filesystem::path& folder);

// The first of these files that the folder has, or an empty path.
std::filesystem::path first_of(const std::filesystem::path& folder,
                               std::span<const std::string_view> files);
// An Error for a file that is not linnet's and would be replaced.
[[noreturn]] void refuse_foreign(const std::filesystem::path& file);

// 1 to 60 letters, digits, dots, underscores and hyphens, but not "." or "..": as a part of a path
// it is a name, and leads nowhere else.
bool is_file_name(std::string_view name);

// An own folder below TMPDIR, for this user alone, as long as it lives.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace linnet
