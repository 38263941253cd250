// file.cpp -- files by POSIX calls, since only these can sync, map and replace.
#include "core/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/utf8.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, std::string_view what) {
  throw Error(fmt::format("[{}] {}", place_of(path), what));
}

[[noreturn]] void fail(const fs::path& path, std::string_view what, int error) {
  fail(path, fmt::format("{}: {}", what, std::generic_category().message(error)));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

constexpr std::string_view kTemporaryStart = ".linnet-", kTemporaryEnd = ".tmp";

bool write_all(int fd, std::span<const std::byte> part) {
  while (!part.empty()) {
    const ssize_t n = ::write(fd, part.data(), part.size());
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) part = part.subspan(static_cast<size_t>(n));
  }
  return true;
}

// Where a path leads, also by a link to a file that is not there yet.
fs::path end_of_links(const fs::path& path) {
  std::error_code error;
  fs::path target = fs::weakly_canonical(path, error);
  constexpr int kMostLinks = 40;
  for (int i = 0; !error && i < kMostLinks && fs::is_symlink(target, error); ++i)
    target = fs::weakly_canonical(target.parent_path() / fs::read_symlink(target, error), error);
  if (error && error != std::errc::no_such_file_or_directory)
    fail(path, "cannot write", error.value());
  return target;
}

// A regular file, or where that is asked for a pipe, opened to be read.
Descriptor open_file(const fs::path& path, Pipe pipe, struct stat& status) {
  // Looked at before it is opened, too: to open a pipe waits for its writer, and a device may act
  // on it. Without O_NONBLOCK, a pipe that comes in between would be waited for.
  const auto check = [&] {
    const bool fits = S_ISREG(status.st_mode) || (pipe == Pipe::read && S_ISFIFO(status.st_mode));
    if (!fits) fail(path, "is not a regular file");
  };
  if (::stat(path.c_str(), &status) != 0) fail(path, "cannot open", errno);
  check();
  const int wait = pipe == Pipe::read ? 0 : O_NONBLOCK;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | wait);
  Descriptor file(fd);
  if (fd < 0 || ::fstat(fd, &status) != 0) fail(path, "cannot open", errno);
  check();
  return file;
}

// Length of the character that `text` starts with, or 0 when it must not reach a terminal.
size_t visible_length(std::string_view text) {
  const auto [c, length] = decode_utf8(text);
  constexpr std::pair<uint32_t, uint32_t> kHidden[] = {
      {0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},    {0x200b, 0x200f},
      {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xe0000, 0xe0fff}};
  const auto hides = [c = c](auto range) { return range.first <= c && c <= range.second; };
  return std::ranges::any_of(kHidden, hides) ? 0 : length;
}

}  // namespace

std::string read_file(const fs::path& path, size_t limit, Pipe pipe) {
  struct stat status = {};
  const Descriptor file = open_file(path, pipe, status);
  const auto too_large = [&] { fail(path, fmt::format("is larger than {} bytes", limit)); };
  const size_t size = static_cast<size_t>(status.st_size);
  if (S_ISREG(status.st_mode) && size > limit) too_large();
  // The size is only a hint (a pipe has none, a log may grow); one byte more shows the end.
  std::string content(S_ISREG(status.st_mode) ? size + 1 : 4096, '\0');
  size_t used = 0;
  for (;;) {
    const ssize_t n = ::read(file.get(), content.data() + used, content.size() - used);
    if (n == 0) break;
    if (n < 0 && errno != EINTR) fail(path, "cannot read", errno);
    if (n > 0) used += static_cast<size_t>(n);
    if (used > limit) too_large();
    if (used == content.size()) content.resize(used + std::min(used, limit - used + 1));
  }
  content.resize(used);
  return content;
}

MappedFile::MappedFile(const fs::path& path) {
  struct stat status = {};
  const Descriptor file = open_file(path, Pipe::refused, status);
  if (status.st_size == 0) return;  // an empty map does not exist
  const size_t size = static_cast<size_t>(status.st_size);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) fail(path, "cannot map", errno);
  bytes_ = {static_cast<const std::byte*>(data), size};
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

// A new file in the folder of `target`, removed again unless it was renamed.
class NewFile::Temporary {
 public:
  // -1 in file(), and errno, tell of a failure. The number is needed when a killed
  // process of the same id left one, or other threads and machines write to the same folder.
  Temporary(const fs::path& target, mode_t mode)
      : target_(target.filename()),
        folder_(::open(target.has_parent_path() ? target.parent_path().c_str() : ".",
                       O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    constexpr int kAttempts = 1000;
    for (int i = 0; i < kAttempts && folder() >= 0 && fd_ < 0; ++i) {
      name_ = temporary_name(i);
      fd_ = ::openat(folder(), name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
      if (fd_ < 0 && errno != EEXIST) return;
    }
    if (fd_ >= 0) path_ = target.parent_path() / name_;
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (fd_ < 0) return;
    if (!renamed_) ::unlinkat(folder(), name_.c_str(), 0);
    ::close(fd_);
  }

  int folder() const { return folder_.get(); }
  int file() const { return fd_; }
  const fs::path& path() const { return path_; }
  bool rename() {
    renamed_ = ::renameat(folder(), name_.c_str(), folder(), target_.c_str()) == 0;
    return renamed_;
  }

 private:
  fs::path target_;
  Descriptor folder_;
  int fd_ = -1;
  std::string name_;
  fs::path path_;
  bool renamed_ = false;
};

NewFile::NewFile(const fs::path& path) : path_(path) {
  std::error_code error;
  const fs::file_status old = fs::status(path, error);
  // E.g. links that lead in a circle: a rename would replace the first of them.
  if (old.type() == fs::file_type::none) fail(path, "cannot write", error.value());
  // A rename would destroy a device such as /dev/null.
  if (fs::exists(old) && !fs::is_regular_file(old)) fail(path, "is not a regular file");
  if (fs::exists(old) && ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0)
    fail(path, "cannot write", errno);
  const fs::path target = end_of_links(path);

  // Private until it has the permissions of the old file; a new file gets what the umask leaves.
  temporary_ = std::make_unique<Temporary>(target, fs::exists(old) ? 0600 : 0666);
  const int fd = temporary_->file();
  if (fd < 0) fail(path, "cannot write to the folder", errno);
  // Some file systems have no permissions: there the file stays private, which harms nobody.
  if (fs::exists(old)) (void)::fchmod(fd, static_cast<mode_t>(old.permissions() & fs::perms::all));
}

NewFile::NewFile(const fs::path& path, std::span<const std::span<const std::byte>> parts)
    : NewFile(path) {
  for (const std::span<const std::byte> part : parts) write(part);
  sync();
}

NewFile::NewFile(const fs::path& path, std::string_view content)
    : NewFile(path, std::array{std::as_bytes(std::span(content))}) {}

NewFile::~NewFile() = default;

const fs::path& NewFile::temporary() const { return temporary_->path(); }

void NewFile::write(std::span<const std::byte> part) {
  if (!write_all(temporary_->file(), part)) fail(path_, "cannot write", errno);
  synced_ = false;
}

void NewFile::sync() {
  if (::fsync(temporary_->file()) != 0) fail(path_, "cannot write", errno);
  synced_ = true;
}

void NewFile::put_in_place() {
  if (!synced_) sync();
  if (!temporary_->rename()) fail(path_, "cannot replace", errno);
  // EINVAL: a file system that cannot sync folders, e.g. over a network.
  if (::fsync(temporary_->folder()) != 0 && errno != EINVAL)
    fail(path_, "cannot sync the folder", errno);
}

void write_file(const fs::path& path, std::span<const std::span<const std::byte>> parts) {
  NewFile(path, parts).put_in_place();
}

void write_file(const fs::path& path, std::string_view content) {
  NewFile(path, content).put_in_place();
}

std::string temporary_name(int number) {
  return fmt::format("{}{}-{}{}", kTemporaryStart, ::getpid(), number, kTemporaryEnd);
}

bool is_temporary_name(std::string_view name) {
  return name.starts_with(kTemporaryStart) && name.ends_with(kTemporaryEnd);
}

std::string printable(std::string_view text, size_t limit) {
  std::string out;
  while (!text.empty()) {
    if (out.size() >= limit) return out + "...";
    const size_t length = visible_length(text);
    if (length > 0)
      out += text.substr(0, length);
    else
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

std::string place_of(const fs::path& path) {
  // Longer than any path that the system accepts, so a path is escaped and not cut.
  return printable(path.string(), 4096);
}

}  // namespace linnet
