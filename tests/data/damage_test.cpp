// damage_test.cpp -- one wrong bit in packed data, an early end, something after the end: the same
// records, or an Error.
#include <gtest/gtest.h>

#include "tests/data/reading.h"

namespace linnet {
namespace {

const std::string kCsv = "label,text\na,one two\nb,three\n";
// kCsv as the program zstd packs it: with a checksum, which libarchive's zstd leaves out.
const std::string kZstd(
    "\x28\xb5\x2f\xfd\x24\x1d\xe9\x00\x00\x6c\x61\x62\x65\x6c\x2c\x74\x65\x78\x74\x0a\x61\x2c\x6f"
    "\x6e\x65\x20\x74\x77\x6f\x0a\x62\x2c\x74\x68\x72\x65\x65\x0a\x04\xcb\x9f\x55",
    42);

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string records_of(const std::string& path) {
  std::string all;
  for (const Row& row : read_rows(path)) {
    for (const std::string& label : row.labels) all += label + "\t";
    all += row.text + "\n";
  }
  return all;
}

class DamageTest : public FolderTest {
 protected:
  std::string packed(const std::string& name, int format, int filter, const std::string& bytes) {
    const std::string member = format == ARCHIVE_FORMAT_RAW ? "data" : "t.csv";
    return content_of(pack(name, format, filter, {{member, bytes}}));
  }
  std::string gzip(const std::string& bytes) {
    return packed("part.gz", ARCHIVE_FORMAT_RAW, ARCHIVE_FILTER_GZIP, bytes);
  }

  // Each bit of the file in turn.
  void flip_all(const std::string& name, const std::string& bytes) {
    const std::string file = write(name, bytes), right = records_of(file);
    EXPECT_EQ(right, "a\tone two\nb\tthree\n") << name;
    const auto put = [&](size_t at, int byte) {
      std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
      out.seekp(static_cast<std::streamoff>(at)).put(static_cast<char>(byte));
    };
    size_t wrong = 0;
    for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      put(bit / 8, bytes[bit / 8] ^ 1 << bit % 8);
      try {
        wrong += records_of(file) != right;
      } catch (const Error&) {
      }
      put(bit / 8, bytes[bit / 8]);
    }
    EXPECT_EQ(wrong, 0u) << name << " of " << 8 * bytes.size() << " bits";
  }
  void expect_refused(const std::string& name, const std::string& bytes) {
    const std::string message = error_of([&] { records_of(write(name, bytes)); });
    EXPECT_NE(message.find(name + "] cannot unpack: "), std::string::npos)
        << name << ", " << bytes.size() << " bytes: " << message;
  }
};

TEST_F(DamageTest, EveryBitOfPackedFiles) {
  flip_all("t.csv.gz", gzip(kCsv));
  flip_all("two.csv.gz", gzip(kCsv.substr(0, 14)) + gzip(kCsv.substr(14)));
  flip_all("t.csv.bz2", packed("t.bz2", ARCHIVE_FORMAT_RAW, ARCHIVE_FILTER_BZIP2, kCsv));
  flip_all("t.csv.xz", packed("t.xz", ARCHIVE_FORMAT_RAW, ARCHIVE_FILTER_XZ, kCsv));
  flip_all("t.csv.lz4", packed("t.lz4", ARCHIVE_FORMAT_RAW, ARCHIVE_FILTER_LZ4, kCsv));
  flip_all("t.csv.zst", kZstd);
}

TEST_F(DamageTest, EveryBitOfStreamsInARow) {
  for (const auto& [end, filter] :
       {std::pair("bz2", ARCHIVE_FILTER_BZIP2), std::pair("lz4", ARCHIVE_FILTER_LZ4)}) {
    std::string both;
    for (const std::string& part : {kCsv.substr(0, 14), kCsv.substr(14)})
      both += packed("part", ARCHIVE_FORMAT_RAW, filter, part);
    flip_all(std::string("two.csv.") + end, both);
  }
}

TEST_F(DamageTest, EveryBitOfArchives) {
  flip_all("t.tar.gz", packed("a.tar.gz", ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_GZIP, kCsv));
  flip_all("t.tar.xz", packed("a.tar.xz", ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_XZ, kCsv));
  flip_all("t.zip", packed("a.zip", ARCHIVE_FORMAT_ZIP, ARCHIVE_FILTER_NONE, kCsv));
}

TEST_F(DamageTest, EarlyEnds) {
  const std::vector<std::pair<std::string, std::string>> files = {
      {"t.csv.gz", gzip(kCsv)},
      {"t.csv.bz2", packed("t.bz2", ARCHIVE_FORMAT_RAW, ARCHIVE_FILTER_BZIP2, kCsv)},
      {"t.csv.xz", packed("t.xz", ARCHIVE_FORMAT_RAW, ARCHIVE_FILTER_XZ, kCsv)},
      {"t.csv.lz4", packed("t.lz4", ARCHIVE_FORMAT_RAW, ARCHIVE_FILTER_LZ4, kCsv)},
      {"t.csv.zst", kZstd},
      {"t.tar.gz", packed("a.tar.gz", ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_GZIP, kCsv)}};
  for (const auto& [name, bytes] : files) {
    const std::string file = write(name, bytes);
    for (size_t size = bytes.size() - 1; size >= 16; --size) {
      std::filesystem::resize_file(file, size);
      EXPECT_NE(error_of([&] { records_of(file); }), "no Error") << name << " cut at " << size;
    }
  }
  expect_refused("t.csv.gz", gzip(kCsv).substr(0, gzip(kCsv).size() - 1));
}

TEST_F(DamageTest, SomethingAfterTheEnd) {
  const std::string zeros(600, '\0');
  for (const auto& [end, filter] :
       {std::pair("gz", ARCHIVE_FILTER_GZIP), std::pair("bz2", ARCHIVE_FILTER_BZIP2),
        std::pair("xz", ARCHIVE_FILTER_XZ), std::pair("lz4", ARCHIVE_FILTER_LZ4)}) {
    const std::string name = std::string("t.csv.") + end;
    const std::string bytes = packed("a", ARCHIVE_FORMAT_RAW, filter, kCsv);
    expect_refused(name, bytes + "b,four\n");
    // xz may have zeros between two streams.
    if (filter != ARCHIVE_FILTER_XZ) expect_refused(name, bytes + zeros + bytes);
    EXPECT_EQ(records_of(write(name, bytes + zeros)), "a\tone two\nb\tthree\n") << name;
  }
}

// The end of the gzip data is far behind the end of the tar, and of its last file.
TEST_F(DamageTest, TheChecksumOfAnArchiveIsReached) {
  std::string text = "label,text\n";
  for (int i = 0; i < 40'000; ++i)
    text += std::to_string(i % 2) + ",text " + std::to_string(i) + "\n";
  std::string bytes = packed("a.tar.gz", ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_GZIP, text);
  EXPECT_EQ(read_rows(write("t.tar.gz", bytes)).size(), 40'000u);
  bytes[bytes.size() - 6] ^= 1;
  expect_refused("t.tar.gz", bytes);
}

TEST_F(DamageTest, APackedNameWithoutPackedBytes) {
  EXPECT_NE(error_of([&] {
              records_of(write("t.csv.gz", kCsv));
            }).find("t.csv.gz] is not packed, as its name says"),
            std::string::npos);
}

}  // namespace
}  // namespace linnet
