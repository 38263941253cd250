// unpacked.h -- the bytes of a file, packed by gzip, bzip2, xz, zstd, lz4 or not at all, which is
// seen by its first bytes.
#pragma once

#include "data/libarchive.h"

namespace linnet {

// Whether the name says that the file is packed: .gz, .tgz, .xz, ...
bool is_packed_name(const std::string& path);

// In constant memory. Damage that the packed form can show, by its checksums or an early end, is an
// Error with the path, at the latest where the last block would follow.
class Unpacked : public Blocks {
 public:
  // "-" is standard input.
  explicit Unpacked(const std::string& path);

  std::string_view next() override;
  double done() const override { return blocks_->done(); }
  bool packed() const { return packed_; }

 private:
  void support_filters() const;

  std::string path_;
  std::unique_ptr<Blocks> blocks_;
  LibarchiveReader reader_;
  bool packed_ = false, ended_ = false;
};

}  // namespace linnet
