// citations_fuzz.cpp -- documents and pairs from any bytes: docs.tsv, a byte of 255, the pairs.
//
//   citations_fuzz tests/fuzz/corpus/citations
#include "tests/fuzz/reader_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::string> parts = linnet::parts_of(data, size);
  parts.resize(2);
  return linnet::fuzz_folder("citations", {{"docs.tsv", parts[0]}, {"pairs.train.tsv", parts[1]}});
}
