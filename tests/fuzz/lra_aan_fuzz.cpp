// lra_aan_fuzz.cpp -- document pairs of LRA from any bytes.
//
//   lra_aan_fuzz tests/fuzz/corpus/lra_aan
#include "tests/fuzz/reader_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return linnet::fuzz_file("lra-aan", "x.tsv", data, size);
}
