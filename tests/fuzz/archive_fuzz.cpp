// archive_fuzz.cpp -- archives and packed files from any bytes: the first byte chooses the name,
// the rest is the file. Records or one clear Error, and the same a second time.
//
//   archive_fuzz tests/fuzz/corpus/archive
#include <fstream>

#include "core/folder.h"
#include "data/part.h"
#include "tests/fuzz/reader_fuzz.h"

namespace linnet {
namespace {

// A small file can hold more zeros than anybody can read.
constexpr int kMostRecords = 500;

std::string read_part(const DataPart& part) {
  std::string all;
  try {
    PartReader reader(part);
    Record record;
    for (int i = 0; i < kMostRecords && reader.next(record); ++i) {
      all += record.text;
      for (const std::string_view label : record.labels) all += label;
      all += place_of(record) + '\n';
    }
  } catch (const Error& error) {
    check_message(error.what());
    all += error.what();
  }
  return all;
}

void read_splits(const std::string& path) {
  DataPart part{.path = path};
  part.read.record_limit = size_t{1} << 17;
  std::vector<std::string> splits = {"", path + "/a.csv"};
  try {
    for (const std::string& split : splits_of(path, part.read)) splits.push_back(split);
    file_of_data(path, part.read);
  } catch (const Error& error) {
    check_message(error.what());
  }
  for (const std::string& split : splits) {
    part.path = split.starts_with(path) ? split : path;
    part.read.split = split.starts_with(path) ? "" : split;
    LINNET_ASSERT(read_part(part) == read_part(part));
  }
}

}  // namespace
}  // namespace linnet

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const char* const kNames[] = {"x.tar",     "x.zip",    "x.tar.gz",  "x.csv.gz",
                                       "x.csv.bz2", "x.csv.xz", "x.csv.zst", "x.csv.lz4",
                                       "x.txt",     "x.tar.xz"};
  if (size == 0) return 0;
  static const linnet::TemporaryFolder folder;
  const std::string path = (folder.path() / kNames[data[0] % 10]).string();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data + 1), static_cast<std::streamsize>(size - 1));
  linnet::read_splits(path);
  return 0;
}
