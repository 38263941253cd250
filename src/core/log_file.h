// log_file.h -- a file that grows record by record, and never has half of one for want of space.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string_view>

namespace linnet {

class LogFile {
 public:
  static constexpr int64_t kAll = std::numeric_limits<int64_t>::max();
  // Made where there is none; what is behind the first `keep` bytes is cut off.
  explicit LogFile(std::filesystem::path path, int64_t keep = kAll);
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  // One write, seen by readers at once. If it fails, the part that was written is cut off again.
  void append(std::string_view record);
  // Returns when all of it is on the disk. A file that was removed meanwhile, perhaps with its
  // folder, is an Error.
  void sync();
  int64_t size() const { return size_; }  // bytes

 private:
  [[noreturn]] void fail(int error) const;
  bool is_there() const;
  std::filesystem::path path_;
  int file_;
  int64_t size_ = 0;
};

}  // namespace linnet
