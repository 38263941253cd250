// blocks.h -- a stream of bytes as blocks that their owner keeps: a file, or what is unpacked of
// one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace linnet {

inline constexpr size_t kBlockBytes = size_t{1} << 18;

class Blocks {
 public:
  virtual ~Blocks() = default;
  // Holds until the next call; empty only at the end, and at every call after it.
  virtual std::string_view next() = 0;
  // Share of the file that was read so far; -1 when unknown.
  virtual double done() const = 0;
};

// A file as it is, or "-" for standard input; what a pipe has comes without waiting for more.
class FileBlocks : public Blocks {
 public:
  explicit FileBlocks(const std::string& path);
  ~FileBlocks() override;
  FileBlocks(const FileBlocks&) = delete;
  FileBlocks& operator=(const FileBlocks&) = delete;

  // The first block has two bytes, if the file has: enough to know gzip by.
  std::string_view next() override;
  double done() const override { return done(read_); }
  // When so many bytes of the file are read.
  double done(int64_t bytes) const;
  int descriptor() const { return descriptor_; }

 private:
  std::string path_;
  int descriptor_ = 0;
  int64_t size_ = 0;  // 0 when unknown
  int64_t read_ = 0;
  std::unique_ptr<char[]> block_;
};

// The Error of a packed file that is damaged; "-" is standard input.
[[noreturn]] void cannot_unpack(const std::string& path, std::string_view reason);

}  // namespace linnet
