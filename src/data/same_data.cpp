// same_data.cpp -- compares parts record by record.
#include "data/same_data.h"

#include <filesystem>

namespace linnet {
namespace {

namespace fs = std::filesystem;

bool can_be_read_twice(const std::string& path) {
  std::error_code error;
  const std::string file = split_archive_path(path).first;
  return fs::is_regular_file(file, error) || fs::is_directory(file, error);
}

// Of a folder in one of the public layouts, which holds all of its splits.
std::string split_of(const DataPart& part) {
  return part.read.split.empty() ? "train" : part.read.split;
}

}  // namespace

bool is_same_data(const DataPart& a, const DataPart& b) {
  if (a.path == b.path && a.read.split == b.read.split) return true;
  if (!can_be_read_twice(a.path) || !can_be_read_twice(b.path)) return false;
  const std::string x = file_of_data(a.path, a.read), y = file_of_data(b.path, b.read);
  std::error_code error;
  if (x == y || fs::equivalent(x, y, error))
    return !fs::is_directory(x, error) || split_of(a) == split_of(b);
  PartReader one({.path = a.path, .read = a.read}), other({.path = b.path, .read = b.read});
  for (Record left, right;;) {
    const bool more = one.next(left);
    if (more != other.next(right)) return false;
    if (!more) return true;
    if (left.text != right.text || left.second != right.second || left.labels != right.labels)
      return false;
  }
}

}  // namespace linnet
