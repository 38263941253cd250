// reading.h -- for tests of readers: a folder of its own, files packed by libarchive, records as
// plain values.
#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "data/formats.h"

namespace linnet {

struct Row {
  std::string text, second;
  std::vector<std::string> labels;
  std::string place;
  bool continues = false;
};

inline std::vector<Row> read_rows(OpenData data) {
  std::vector<Row> rows;
  for (Record r; data.reader->next(r);) {
    rows.push_back({std::string(r.text), std::string(r.second),
                    std::vector<std::string>(r.labels.begin(), r.labels.end()), place_of(r),
                    r.continues});
  }
  return rows;
}

inline std::vector<Row> read_rows(const std::string& path, const ReadOptions& options = {}) {
  return read_rows(open_data(path, options));
}

// A file in memory, handed over `piece` bytes at a time.
inline Input memory_input(const std::string& name, std::string_view bytes,
                          size_t piece = ~size_t{0}, size_t limit = kRecordLimit) {
  Input input{.path = name, .name = name, .tree = nullptr, .window = nullptr};
  input.window = std::make_unique<Window>(bytes_of(bytes, piece), name, limit);
  input.window->ensure(1 << 16);
  return input;
}

// The records of a file in memory; the same whatever the size of the pieces.
inline std::vector<Row> rows_of(const std::string& name, std::string_view bytes,
                                const ReadOptions& options = {}) {
  std::vector<Row> rows = read_rows(open_data(memory_input(name, bytes), options));
  for (const size_t piece : {1, 3}) {
    const auto again = read_rows(open_data(memory_input(name, bytes, piece), options));
    EXPECT_EQ(again.size(), rows.size());
    for (size_t i = 0; i < std::min(rows.size(), again.size()); ++i) {
      EXPECT_EQ(again[i].text, rows[i].text);
      EXPECT_EQ(again[i].labels, rows[i].labels);
      EXPECT_EQ(again[i].place, rows[i].place);
    }
  }
  return rows;
}

template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no Error";
}

inline std::string error_of_bytes(const std::string& name, std::string_view bytes,
                                  const ReadOptions& options = {}) {
  return error_of([&] { read_rows(open_data(memory_input(name, bytes), options)); });
}

class FolderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name =
        (std::filesystem::temp_directory_path() / "linnet_data_").string() + std::string(6, 'X');
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, std::string_view bytes) const {
    const std::filesystem::path file = folder_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
    return file.string();
  }

  // Packs files into an archive, or one file into a stream: format and filter of libarchive.
  std::string pack(const std::string& name, int format, int filter,
                   const std::vector<std::pair<std::string, std::string>>& files) const {
    archive* a = archive_write_new();
    EXPECT_EQ(archive_write_add_filter(a, filter), ARCHIVE_OK);
    EXPECT_EQ(archive_write_set_format(a, format), ARCHIVE_OK);
    EXPECT_EQ(archive_write_open_filename(a, path(name).c_str()), ARCHIVE_OK);
    for (const auto& [file, bytes] : files) {
      archive_entry* entry = archive_entry_new();
      archive_entry_set_pathname(entry, file.c_str());
      archive_entry_set_filetype(entry, file.ends_with('/') ? AE_IFDIR : AE_IFREG);
      archive_entry_set_perm(entry, 0644);
      archive_entry_set_size(entry, static_cast<la_int64_t>(bytes.size()));
      EXPECT_GE(archive_write_header(a, entry), ARCHIVE_WARN);  // in the C locale names are ASCII
      archive_write_data(a, bytes.data(), bytes.size());
      archive_entry_free(entry);
    }
    EXPECT_EQ(archive_write_close(a), ARCHIVE_OK);
    archive_write_free(a);
    return path(name);
  }

  std::filesystem::path folder_;
};

// The folder of real data, or empty: then a test skips.
inline std::string real_data(const std::string& name) {
  const char* folder = std::getenv("LINNET_DATA");
  if (folder == nullptr) return "";
  const std::filesystem::path path = std::filesystem::path(folder) / name;
  return std::filesystem::exists(path) ? path.string() : "";
}

}  // namespace linnet
