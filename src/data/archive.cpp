// archive.cpp -- tar and zip by libarchive.
#include "data/archive.h"

#include <archive_entry.h>

#include <string_view>

#include "data/ascii.h"

namespace linnet {
namespace {

// Warnings tell of damage, such as a checksum that is wrong, but for one: that a name of the file,
// its owner or its aim has no form in this locale. Its bytes are all that is wanted of it.
bool is_harmless(struct archive* archive) {
  const char* text = archive_error_string(archive);
  const std::string_view reason = text ? text : "";
  return reason.find("be converted from") != reason.npos;
}

}  // namespace

bool is_archive_name(const std::string& path) {
  const std::string name = lower_case(path);
  for (const char* end : {".tar", ".tar.gz", ".tar.xz", ".tar.zst", ".tar.bz2", ".tar.lz4", ".tgz",
                          ".txz", ".tzst", ".tbz2", ".zip"}) {
    if (name.ends_with(end)) return true;
  }
  return false;
}

Archive::Archive(const std::string& path)
    : unpacked_(std::make_unique<Unpacked>(path)), file_(path), reader_(path) {
  archive_read_support_format_tar(reader_.get());
  archive_read_support_format_zip(reader_.get());
  archive_read_support_format_empty(reader_.get());
  if (unpacked_->packed()) {
    reader_.open(*unpacked_, {});
  } else {
    unpacked_.reset();
    reader_.open(file_);  // a zip has its list at the end
  }
}

bool Archive::next() {
  archive_entry* entry = nullptr;
  for (;;) {
    const int result = archive_read_next_header(reader_.get(), &entry);
    if (result == ARCHIVE_EOF) {
      // The checksum comes after the end of the tar.
      while (unpacked_ && !unpacked_->next().empty()) {
      }
      return false;
    }
    if (result != ARCHIVE_OK && !(result == ARCHIVE_WARN && is_harmless(reader_.get())))
      reader_.fail();
    // A hard link has no bytes.
    if (archive_entry_filetype(entry) == AE_IFREG && !archive_entry_hardlink(entry)) break;
  }
  // In the C locale only the second form exists of a name that is not ASCII.
  const char* name = archive_entry_pathname(entry);
  if (name == nullptr) name = archive_entry_pathname_utf8(entry);
  name_ = name ? name : "";
  while (name_.starts_with("./")) name_.erase(0, 2);
  return true;
}

size_t Archive::read(char* into, size_t room) {
  const la_ssize_t n = archive_read_data(reader_.get(), into, room);
  if (n < 0) reader_.fail();
  return static_cast<size_t>(n);
}

double Archive::done() const {
  return unpacked_ ? unpacked_->done() : file_.done(archive_filter_bytes(reader_.get(), -1));
}

}  // namespace linnet
