// tsv_fuzz.cpp -- TSV from any bytes, with and without escapes.
//
//   tsv_fuzz tests/fuzz/corpus/tsv
#include "tests/fuzz/reader_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return linnet::fuzz_file("tsv", "x.tsv", data, size);
}
