// guess_fuzz.cpp -- the format, header and columns guessed from any bytes.
//
//   guess_fuzz tests/fuzz/corpus/guess
#include "tests/fuzz/reader_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static const char* const kNames[] = {"-",     "x.csv", "x.tsv", "x.json",
                                       "x.txt", "x.bin", "x.md",  "new_aan_pairs.test.tsv"};
  return linnet::fuzz_file("", kNames[data[0] % 8], data + 1, size - 1);
}
