// output_file.cpp -- writes NAME.part, then renames it.
#include "cli/output_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "core/error.h"
#include "core/file.h"

namespace linnet {

OutputFile::OutputFile(const std::string& path)
    : path_(path),
      part_(path + ".part"),
      file_(path == "-" ? stdout : std::fopen(part_.c_str(), "wb")) {
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
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail("cannot write");
}

void OutputFile::close() {
  if (std::fflush(file_) != 0) fail("cannot write");
  if (file_ == stdout) return;
  const bool closed = std::fclose(file_) == 0;
  file_ = nullptr;
  if (!closed || std::rename(part_.c_str(), path_.c_str()) != 0) fail("cannot write");
}

}  // namespace linnet
