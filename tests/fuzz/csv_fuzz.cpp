// csv_fuzz.cpp -- CSV from any bytes.
//
//   csv_fuzz tests/fuzz/corpus/csv
#include "tests/fuzz/reader_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return linnet::fuzz_file("csv", "x.csv", data, size);
}
