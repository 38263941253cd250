// libarchive.cpp -- the callbacks of libarchive's reader.
#include "data/libarchive.h"

#include <algorithm>
#include <cerrno>

namespace linnet {
namespace {

constexpr size_t kLookAhead = 64;  // bytes; filters look at the first 14 of what follows

}  // namespace

LibarchiveReader::LibarchiveReader(const std::string& path)
    : path_(path), archive_(archive_read_new()) {
  if (!archive_) throw std::bad_alloc();
}

void LibarchiveReader::open(Blocks& blocks, std::string_view first) {
  blocks_ = &blocks;
  block_ = first;
  if (archive_read_open(get(), this, nullptr, read_block, nullptr) != ARCHIVE_OK) fail();
}

void LibarchiveReader::open(const FileBlocks& file) {
  if (archive_read_open_fd(get(), file.descriptor(), kBlockBytes) != ARCHIVE_OK) fail();
}

// Called by C, which no exception may cross.
la_ssize_t LibarchiveReader::read_block(struct archive* archive, void* self, const void** block) {
  auto* reader = static_cast<LibarchiveReader*>(self);
  try {
    reader->take_block();
  } catch (...) {
    reader->fault_ = std::current_exception();
    archive_set_error(archive, EIO, "cannot read");
    return ARCHIVE_FATAL;
  }
  *block = reader->block_.data();
  return static_cast<la_ssize_t>(reader->block_.size());
}

void LibarchiveReader::fail() const {
  if (fault_) std::rethrow_exception(fault_);
  const char* reason = archive_error_string(get());
  cannot_unpack(path_, reason ? reason : "unknown fault");
}

void LibarchiveReader::take_block() {
  if (started_ || block_.empty()) {
    before_ += block_.substr(block_.size() - std::min(block_.size(), kLookAhead));
    before_.erase(0, before_.size() - std::min(before_.size(), kLookAhead));
    block_ = blocks_->next();
  }
  started_ = true;
  given_ += static_cast<int64_t>(block_.size());
}

bool LibarchiveReader::anything_left() {
  const auto unused = static_cast<size_t>(given_ - archive_filter_bytes(get(), -1));
  const auto end_of = [](std::string_view text, size_t size) {
    return text.substr(text.size() - std::min(text.size(), size));
  };
  const std::string_view block = end_of(block_, unused);
  const std::string_view before = end_of(before_, unused - block.size());
  const auto is_zero = [](std::string_view text) {
    return text.find_first_not_of('\0') == text.npos;
  };
  bool zeros = is_zero(before) && is_zero(block);
  while (zeros && !(block_ = blocks_->next()).empty()) zeros = is_zero(block_);
  return !zeros;
}

}  // namespace linnet
