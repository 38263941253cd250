// byte_source.cpp -- streams over libarchive, and over memory for tests.
#include "data/byte_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "core/error.h"
#include "core/file.h"
#include "data/archive.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

class UnpackedBytes : public ByteSource {
 public:
  explicit UnpackedBytes(const std::string& path) : unpacked_(path) {}
  size_t read(char* into, size_t room) override {
    if (left_.empty()) left_ = unpacked_.next();
    const size_t n = left_.copy(into, room);
    left_.remove_prefix(n);
    return n;
  }
  double done() const override { return unpacked_.done(); }

 private:
  Unpacked unpacked_;
  std::string_view left_;  // of the present block
};

class MemberBytes : public ByteSource {
 public:
  MemberBytes(const std::string& path, const std::string& member) : archive_(path) {
    while (archive_.next()) {
      if (archive_.name() == member) return;
    }
    throw Error(fmt::format("[{}] has no file {}", place_of(path), printable(member, 200)));
  }
  size_t read(char* into, size_t room) override {
    const size_t n = ended_ ? 0 : archive_.read(into, room);
    ended_ = n == 0;
    return n;
  }
  double done() const override { return archive_.done(); }

 private:
  Archive archive_;
  bool ended_ = false;
};

class MemoryBytes : public ByteSource {
 public:
  MemoryBytes(std::string_view memory, size_t piece) : left_(memory), piece_(piece) {}
  size_t read(char* into, size_t room) override {
    const size_t n = std::min({room, piece_, left_.size()});
    if (n > 0) std::memcpy(into, left_.data(), n);
    left_.remove_prefix(n);
    return n;
  }

 private:
  std::string_view left_;
  size_t piece_;
};

}  // namespace

std::pair<std::string, std::string> split_archive_path(const std::string& path) {
  std::error_code error;
  if (fs::exists(path, error)) return {path, ""};
  for (size_t at = path.rfind('/'); at != path.npos && at > 0; at = path.rfind('/', at - 1)) {
    const std::string front = path.substr(0, at);
    if (!fs::exists(front, error)) continue;
    if (is_archive_name(front) && fs::is_regular_file(front, error))
      return {front, path.substr(at + 1)};
    break;
  }
  return {path, ""};
}

std::unique_ptr<ByteSource> open_bytes(const std::string& path) {
  const auto [file, member] = split_archive_path(path);
  if (!member.empty()) return std::make_unique<MemberBytes>(file, member);
  return std::make_unique<UnpackedBytes>(path);
}

std::unique_ptr<ByteSource> bytes_of(std::string_view memory, size_t piece) {
  return std::make_unique<MemoryBytes>(memory, piece);
}

std::string read_all(ByteSource& source, size_t limit, const std::string& place) {
  std::string content;
  size_t used = 0;
  for (;;) {
    if (used == content.size()) content.resize(std::max<size_t>(2 * used, 4096));
    const size_t n = source.read(content.data() + used, content.size() - used);
    if (n == 0) break;
    used += n;
    if (used > limit) throw Error(fmt::format("[{}] is larger than {} bytes", place, limit));
  }
  content.resize(used);
  return content;
}

}  // namespace linnet
