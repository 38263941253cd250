// replay.cpp -- the fuzzers as plain functions, each run once on every file of its corpus: NAME
// FILE-OR-FOLDER...
//
// What libFuzzer found stays found: this runs in the sanitizer builds, which need no clang.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// A line LINNET_FUZZER(NAME) for every NAME_fuzz.cpp, whose LLVMFuzzerTestOneInput is compiled as
// NAME_fuzz.
#define LINNET_FUZZER(name) extern "C" int name##_fuzz(const uint8_t* data, size_t size);
#include "fuzzers.inc"
#undef LINNET_FUZZER

namespace {

namespace fs = std::filesystem;
using Fuzzer = int (*)(const uint8_t*, size_t);

#define LINNET_FUZZER(name) {#name, name##_fuzz},
constexpr std::pair<std::string_view, Fuzzer> kFuzzers[] = {
#include "fuzzers.inc"
};

std::vector<fs::path> files_of(const std::vector<fs::path>& places) {
  std::vector<fs::path> files;
  for (const fs::path& place : places) {
    if (!fs::is_directory(place)) {
      files.push_back(place);
      continue;
    }
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(place))
      if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  const auto* fuzzer = std::find_if(std::begin(kFuzzers), std::end(kFuzzers),
                                    [&](const auto& one) { return one.first == name; });
  if (fuzzer == std::end(kFuzzers)) {
    std::fprintf(stderr, "usage: fuzz_replay NAME FILE-OR-FOLDER...; the names:\n");
    for (const auto& one : kFuzzers) std::fprintf(stderr, "  %s\n", one.first.data());
    return 2;
  }
  const std::vector<fs::path> files = files_of({argv + 2, argv + argc});
  for (const fs::path& path : files) {
    std::fprintf(stderr, "%s\n", path.c_str());  // the last one before a report is the culprit
    // A copy of exactly its size, so that a read beyond the end is seen.
    const std::string content = content_of(path);
    const std::vector<uint8_t> bytes(content.begin(), content.end());
    fuzzer->second(bytes.data(), bytes.size());
  }
  if (files.empty()) std::fprintf(stderr, "no inputs\n");
  return files.empty();
}
