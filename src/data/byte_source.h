// byte_source.h -- a stream of bytes: a file, packed or not, standard input, a file in an archive.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace linnet {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // At most `room` bytes (room > 0); 0 at the end, and at every call after it.
  virtual size_t read(char* into, size_t room) = 0;
  // Share of the file that was read so far, for a progress bar; -1 when unknown.
  virtual double done() const { return -1; }
};

// "-" is standard input; gzip, bzip2, xz, zstd and lz4 are seen by the first bytes, whatever the
// name is; FILE.tar.gz/NAME is a file in an archive. Memory is constant.
std::unique_ptr<ByteSource> open_bytes(const std::string& path);

// The bytes of a string that the caller keeps; read at most `piece` at a time.
std::unique_ptr<ByteSource> bytes_of(std::string_view memory, size_t piece = ~size_t{0});

// All that is left; more than `limit` bytes is an Error with `place` in brackets.
std::string read_all(ByteSource& source, size_t limit, const std::string& place);

// Splits FILE.tar.gz/NAME into the archive that exists and the name in it; the second is empty when
// the path is a file or folder itself, or nothing at all.
std::pair<std::string, std::string> split_archive_path(const std::string& path);

}  // namespace linnet
