// aclimdb_fuzz.cpp -- a folder of reviews with any names and bytes: name, 255, content, 255, ...
//
//   aclimdb_fuzz tests/fuzz/corpus/aclimdb
#include "tests/fuzz/reader_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<std::string> parts = linnet::parts_of(data, size);
  std::map<std::string, std::string> files;
  for (size_t i = 0; i + 1 < parts.size(); i += 2) files[parts[i]] = parts[i + 1];
  return linnet::fuzz_folder("aclimdb", files);
}
