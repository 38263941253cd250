// fasttext_fuzz.cpp -- fastText lines from any bytes.
//
//   fasttext_fuzz tests/fuzz/corpus/fasttext
#include "tests/fuzz/reader_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return linnet::fuzz_file("fasttext", "x.txt", data, size);
}
