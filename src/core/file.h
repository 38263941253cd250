// file.h -- whole files: read, mapped, or written so that a failure leaves the old one untouched.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace linnet {

// Whether what is read may be a pipe: of a file that the user names for this alone, e.g. <(...). It
// is waited for, as any reader of a pipe does.
enum class Pipe { refused, read };
// The whole content of a regular file, or a pipe; anything else, and more than `limit` bytes, is an
// Error before it fills the memory or is waited for.
std::string read_file(const std::filesystem::path& path, size_t limit, Pipe pipe = Pipe::refused);

// A regular file mapped read-only. Its pages are the file's: a process that cuts the file short
// under a reader stops that reader with SIGBUS; write_file never does, since it replaces the file.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

// A file that is written beside `path`, then takes its place: whoever opens `path`, even after a
// power cut, finds the old content or the new. Of files that belong together all are written before
// the first is put in place, so that a full disk leaves all of the old ones. The permissions of an
// old file are kept, a link to it is followed; a read-only one, and what is no regular file, is
// refused.
class NewFile {
 public:
  // Makes the temporary, for write() to fill.
  explicit NewFile(const std::filesystem::path& path);
  // Writes the parts one after the other to a temporary, and syncs it.
  NewFile(const std::filesystem::path& path, std::span<const std::span<const std::byte>> parts);
  NewFile(const std::filesystem::path& path, std::string_view content);
  // Removes the temporary if it was not put in place; only a kill can leave one.
  ~NewFile();
  void write(std::span<const std::byte> part);
  // Syncs what was written, renames it to `path` and syncs the folder.
  void put_in_place();
  // Where it is until then.
  const std::filesystem::path& temporary() const;

 private:
  class Temporary;
  void sync();
  std::filesystem::path path_;
  std::unique_ptr<Temporary> temporary_;
  bool synced_ = false;
};

// A NewFile that is put in place at once.
void write_file(const std::filesystem::path& path,
                std::span<const std::span<const std::byte>> parts);
void write_file(const std::filesystem::path& path, std::string_view content);

// The name of what is made beside another thing, before it takes its place; and whether it is one.
std::string temporary_name(int number);
bool is_temporary_name(std::string_view name);

// Foreign text made fit for a message: at most about `limit` bytes, then "..."; what could steer a
// terminal or hide text (control, bidirectional and zero-width characters, broken UTF-8) as \xNN.
std::string printable(std::string_view text, size_t limit = 80);

// A path as the place of an Error.
std::string place_of(const std::filesystem::path& path);

}  // namespace linnet
