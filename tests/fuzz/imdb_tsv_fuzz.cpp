// imdb_tsv_fuzz.cpp -- IMDb reviews in one file from any bytes.
//
//   imdb_tsv_fuzz tests/fuzz/corpus/imdb_tsv
#include "tests/fuzz/reader_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return linnet::fuzz_file("imdb-tsv", "x.tsv", data, size);
}
