// pathfinder_fuzz.cpp -- metadata and a PNG from any bytes: the lines, a byte of 255, the image.
//
//   pathfinder_fuzz tests/fuzz/corpus/pathfinder
#include "tests/fuzz/reader_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // An image has bytes of 255 itself, so only the first one parts.
  const std::string lines = linnet::parts_of(data, size)[0];
  const size_t rest = std::min(size, lines.size() + 1);
  return linnet::fuzz_folder(
      "pathfinder",
      {{"metadata/0.npy", lines},
       {"imgs/0/a.png", std::string(reinterpret_cast<const char*>(data + rest), size - rest)},
       {"imgs/0/b.png", ""}});
}
