// output_file.h -- a large text file, written in a stream; it has its name only when it is whole.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace linnet {

class OutputFile {
 public:
  // "-" is standard output.
  explicit OutputFile(const std::string& path);
  // Without close() the part that was written is removed.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view text);
  void close();

 private:
  [[noreturn]] void fail(const char* what) const;

  std::string path_, part_;
  std::FILE* file_ = nullptr;
};

}  // namespace linnet
