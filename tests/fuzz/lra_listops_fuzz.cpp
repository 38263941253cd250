// lra_listops_fuzz.cpp -- ListOps of LRA from any bytes.
//
//   lra_listops_fuzz tests/fuzz/corpus/lra_listops
#include "tests/fuzz/reader_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return linnet::fuzz_file("lra-listops", "x.tsv", data, size);
}
