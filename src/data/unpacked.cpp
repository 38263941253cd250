// unpacked.cpp -- gzip by zlib, the other packers by libarchive's filters.
#include "data/unpacked.h"

#include <archive_entry.h>
#include <fmt/format.h>

#include "core/error.h"
#include "core/file.h"
#include "data/ascii.h"
#include "data/gunzip.h"

namespace linnet {

bool is_packed_name(const std::string& path) {
  const std::string name = lower_case(path);
  for (const char* end : {".gz", ".tgz", ".xz", ".txz", ".zst", ".tzst", ".bz2", ".tbz2", ".lz4"}) {
    if (name.ends_with(end)) return true;
  }
  return false;
}

Unpacked::Unpacked(const std::string& path)
    : path_(path), blocks_(std::make_unique<FileBlocks>(path)), reader_(path) {
  std::string_view first = blocks_->next();
  packed_ = is_gzip(first);
  if (packed_) {
    blocks_ = std::make_unique<Gunzip>(path, std::move(blocks_), first);
    first = {};
  }
  const bool empty = !packed_ && first.empty();
  support_filters();
  reader_.open(*blocks_, first);
  packed_ = packed_ || archive_filter_count(reader_.get()) > 1;
  // One wrong bit in the first bytes, and packed data would pass for text.
  if (!packed_ && !empty && is_packed_name(path)) {
    throw Error(
        fmt::format("[{}] is not packed, as its name says: it is damaged, or has the wrong "
                    "name",
                    place_of(path)));
  }
  archive_entry* entry = nullptr;
  const int result = archive_read_next_header(reader_.get(), &entry);
  ended_ = result == ARCHIVE_EOF;
  if (!ended_ && result != ARCHIVE_OK) reader_.fail();
}

// Not archive_read_support_filter_all: it has filters that a text may look like (uuencode), and
// some that start programs.
void Unpacked::support_filters() const {
  struct archive* a = reader_.get();
  archive_read_support_filter_gzip(a);  // in another packer, whose checksum is its own
  archive_read_support_filter_bzip2(a);
  archive_read_support_filter_xz(a);
  archive_read_support_filter_zstd(a);
  archive_read_support_filter_lz4(a);
  archive_read_support_format_raw(a);
  archive_read_support_format_empty(a);
}

std::string_view Unpacked::next() {
  while (!ended_) {
    const void* block = nullptr;
    size_t size = 0;
    la_int64_t offset = 0;
    const int result = archive_read_data_block(reader_.get(), &block, &size, &offset);
    if (result == ARCHIVE_EOF) {
      ended_ = true;
      // bzip2 and lz4 take what they do not know for the end.
      if (archive_filter_count(reader_.get()) > 1 && reader_.anything_left())
        cannot_unpack(path_, "there is something else after its end");
    } else if (result != ARCHIVE_OK) {
      reader_.fail();
    } else if (size > 0) {
      return {static_cast<const char*>(block), size};
    }
  }
  return {};
}

}  // namespace linnet
