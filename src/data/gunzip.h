// gunzip.h -- gzip, unpacked and checked to its last byte.
#pragma once

#include <zlib.h>

#include "data/blocks.h"

namespace linnet {

inline bool is_gzip(std::string_view start) { return start.starts_with("\x1f\x8b"); }

// libarchive's own gzip passes over the checksum and the length at the end. Members follow each
// other; zeros may fill a file up. Anything else, or an early end, is an Error.
class Gunzip : public Blocks {
 public:
  // `first` is the first block of the packed bytes, already taken.
  Gunzip(const std::string& path, std::unique_ptr<Blocks> packed, std::string_view first);
  ~Gunzip() override;
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  std::string_view next() override;
  double done() const override { return packed_->done(); }

 private:
  enum class State { member, after_member, padding, ended };
  // Takes the next packed block when the present one is used up; false at the end.
  bool refill();
  size_t inflate_some();
  void pass_padding();

  std::string path_;
  std::unique_ptr<Blocks> packed_;
  std::unique_ptr<char[]> block_;
  z_stream stream_ = {};
  State state_ = State::member;
};

}  // namespace linnet
