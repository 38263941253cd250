// output_file.cpp -- writes NAME.part, then renames it.
#include "cli/output_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "cli/streams.h"
#include "core/error.h"
#include "core/file.h"

namespace linnet {

OutputFile::OutputFile(const std::string& path) : path_(path), part_(path + ".part") {
  struct stat status = {};
  // A rename would replace the first of links that lead in a circle.
  if (::stat(path_.c_str(), &status) != 0 && errno == ELOOP) fail("cannot write");
  file_ = path == "-" ? stdout : std::fopen(part_.c_str(), "wb");
  if (file_ == nullptr) fail("cannot write");
}

OutputFile::~OutputFile() {
  if (file_ == nullptr || file_ == stdout) return;
  std::fclose(file_);
  std::remove(part_.c_str());
}

void OutputFile::fail(const char* what) const {
  throw Error(fmt::format("[{}] {}: {}", place_of(path_), what, std::strerror(errno)));
}

void OutputFile::write(std::string_view text) {
  if (file_ == stdout) return write_out(text);
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail("cannot write");
}

void OutputFile::close() {
  if (file_ == stdout) return flush_out();
  if (std::fflush(file_) != 0) fail("cannot write");
  const bool closed = std::fclose(file_) == 0;
  file_ = nullptr;
  if (!closed || std::rename(part_.c_str(), path_.c_str()) != 0) fail("cannot write");
}

}  // namespace linnet
