// jsonl_fuzz.cpp -- JSON lines from any bytes.
//
//   jsonl_fuzz tests/fuzz/corpus/jsonl
#include "tests/fuzz/reader_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return linnet::fuzz_file("jsonl", "x.jsonl", data, size);
}
