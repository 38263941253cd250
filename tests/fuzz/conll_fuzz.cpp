// conll_fuzz.cpp -- CoNLL lines from any bytes.
//
//   conll_fuzz tests/fuzz/corpus/conll
#include "tests/fuzz/reader_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return linnet::fuzz_file("conll", "x.txt", data, size);
}
