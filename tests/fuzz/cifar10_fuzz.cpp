// cifar10_fuzz.cpp -- CIFAR-10 batches from any bytes.
//
//   cifar10_fuzz tests/fuzz/corpus/cifar10
#include "tests/fuzz/reader_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return linnet::fuzz_file("cifar10", "x.bin", data, size);
}
