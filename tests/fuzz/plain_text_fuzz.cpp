// plain_text_fuzz.cpp -- plain text from any bytes.
//
//   plain_text_fuzz tests/fuzz/corpus/plain_text
#include "tests/fuzz/reader_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return linnet::fuzz_file("text", "x.txt", data, size);
}
