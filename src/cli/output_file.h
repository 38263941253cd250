// output_file.h -- what a flag such as --out names: written in a stream, and there only when it is
// whole.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "core/file.h"

namespace linnet {

class OutputFile {
 public:
  // Opened at once, so that a path that cannot be written is an Error before any work. "-" is
  // standard output. A file is a NewFile, whose temporary Ctrl-C and its kin remove. A device, a
  // pipe, and the name of an open file (/dev/stdout, /dev/fd/3) cannot be replaced: it is written
  // to directly.
  explicit OutputFile(const std::string& path);
  // Without close() a file is as it was before.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view text);
  void close();

 private:
  [[noreturn]] void fail() const;
  void flush();
  void let_go();

  std::string path_, buffer_;
  std::optional<NewFile> file_;
  std::FILE* direct_ = nullptr;  // else
};

}  // namespace linnet
