// folder.cpp -- the mark is a small file; a folder without it is never removed.
#include "core/folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include "core/error.h"
#include "core/file.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMark = ".linnet";
constexpr std::string_view kMarkText = "linnet made this folder, and may remove it.\n";

[[noreturn]] void fail(const fs::path& folder, std::string_view what, const std::string& why) {
  throw Error(fmt::format("[{}] cannot {} the folder: {}", place_of(folder), what, why));
}

void mark(const fs::path& folder) { write_file(folder / kMark, kMarkText); }

// Empty, under a name that remove_temporaries knows.
fs::path new_folder_beside(const fs::path& folder) {
  constexpr int kAttempts = 1000;
  std::error_code failure;
  for (int number = 0; number < kAttempts; ++number) {
    const fs::path beside = folder.parent_path() / temporary_name(number);
    if (fs::create_directory(beside, failure)) return beside;
    if (failure && failure != std::errc::file_exists) break;
  }
  fail(folder, "write beside", failure.message());
}

// A file, a folder with a mark, or one with nothing but temporaries; what cannot be removed stays.
void remove_temporary(const fs::path& path) {
  std::error_code failure;
  try {
    if (is_own_folder(path)) {
      fs::remove_all(path, failure);
      return;
    }
    // Its mark may be a temporary itself.
    if (fs::is_directory(fs::symlink_status(path, failure))) remove_temporaries(path);
    fs::remove(path, failure);
  } catch (const Error&) {  // its mark cannot be read
  }
}

// `place`: what is made in the end, which an Error names.
std::vector<fs::path> make_for(const fs::path& place, const fs::path& folder) {
  std::error_code failure;
  std::vector<fs::path> missing, made;
  const fs::path named = folder.has_filename() ? folder : folder.parent_path();
  for (fs::path at = named; !at.empty() && !fs::exists(at, failure); at = at.parent_path())
    missing.push_back(at);
  failure.clear();
  for (auto at = missing.rbegin(); at != missing.rend() && !failure; ++at)
    if (fs::create_directory(*at, failure)) made.push_back(*at);
  if (!failure && !fs::is_directory(folder, failure))
    failure = std::make_error_code(std::errc::not_a_directory);
  if (!failure) return made;
  remove_empty_folders(made);
  fail(place, "make", failure.message());
}

}  // namespace

std::vector<fs::path> make_folders(const fs::path& folder) { return make_for(folder, folder); }

void remove_empty_folders(std::span<const fs::path> made) {
  std::error_code ignored;
  for (auto folder = made.rbegin(); folder != made.rend(); ++folder)
    if (!fs::is_directory(*folder, ignored) || !fs::remove(*folder, ignored)) return;
}

void make_own_folder(const fs::path& folder) {
  std::error_code failure;
  if (fs::is_directory(folder, failure)) return;
  const fs::path named = folder.has_filename() ? folder : folder.parent_path();
  const std::vector<fs::path> made =
      named.has_parent_path() ? make_for(folder, named.parent_path()) : std::vector<fs::path>();
  // Beside it first: a kill leaves no folder without a mark.
  const fs::path temporary = new_folder_beside(named);
  try {
    mark(temporary);
  } catch (...) {
    remove_temporary(temporary);
    remove_empty_folders(made);
    throw;
  }
  fs::rename(temporary, named, failure);
  if (!failure) return;
  remove_temporary(temporary);
  remove_empty_folders(made);
  fail(folder, "make", failure.message());
}

bool is_own_folder(const fs::path& folder) {
  std::error_code failure;
  const fs::path file = folder / kMark;
  return fs::is_directory(fs::symlink_status(folder, failure)) &&
         fs::is_regular_file(fs::symlink_status(file, failure)) &&
         fs::file_size(file, failure) == kMarkText.size() &&
         read_file(file, kMarkText.size()) == kMarkText;
}

bool remove_own_folder(const fs::path& folder) {
  std::error_code failure;
  if (fs::symlink_status(folder, failure).type() == fs::file_type::not_found) return true;
  if (!is_own_folder(folder)) return false;
  // The mark goes last: a kill leaves a folder that is known as linnet's own.
  for (fs::directory_iterator at(folder, failure); !failure && at != fs::directory_iterator();
       at.increment(failure)) {
    std::error_code one;
    if (at->path().filename() != kMark) fs::remove_all(at->path(), one);
    if (one) fail(folder, "remove", one.message());
  }
  // The folder under another name, so that a kill leaves none without its mark under this one.
  const fs::path temporary = new_folder_beside(folder);
  fs::rename(folder, temporary, failure);
  if (failure) fs::remove(temporary, failure);
  fs::remove_all(failure ? folder : temporary, failure);
  if (failure) fail(folder, "remove", failure.message());
  return true;
}

void remove_temporaries(const fs::path& folder) {
  std::error_code failure;  // a temporary that stays harms nobody
  for (fs::directory_iterator at(folder, failure); !failure && at != fs::directory_iterator();
       at.increment(failure))
    if (is_temporary_name(at->path().filename().string())) remove_temporary(at->path());
}

fs::path first_of(const fs::path& folder, std::span<const std::string_view> files) {
  for (const std::string_view file : files) {
    std::error_code ignored;
    // A link is there, too, even one that leads to nothing.
    if (fs::exists(fs::symlink_status(folder / file, ignored))) return folder / file;
  }
  return {};
}

void refuse_foreign(const fs::path& file) {
  throw Error(
      fmt::format("[{}] is not known to be linnet's and would be replaced: take another folder, or "
                  "move it away",
                  place_of(file)));
}

bool is_file_name(std::string_view name) {
  constexpr std::string_view kSigns =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  return !name.empty() && name.size() <= 60 && name != "." && name != ".." &&
         name.find_first_not_of(kSigns) == name.npos;
}

TemporaryFolder::TemporaryFolder() {
  const char* place = std::getenv("TMPDIR");
  const fs::path above = place != nullptr && *place != '\0' ? place : "/tmp";
  std::string name = (above / "linnet-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw Error(fmt::format("[TMPDIR] cannot make a folder in {}: {}", place_of(above),
                            std::generic_category().message(errno)));
  }
  path_ = name;
  mark(path_);
}

TemporaryFolder::~TemporaryFolder() {
  try {
    remove_own_folder(path_);
  } catch (const std::exception&) {  // what cannot be removed stays
  }
}

}  // namespace linnet
