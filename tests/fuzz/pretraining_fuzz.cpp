// pretraining_fuzz.cpp -- any start.json is that of a run, of another one, or gives one clear
// Error; any result.json gives figures, or such an Error. The first byte says which of the two it
// is.
//
//   pretraining_fuzz tests/fuzz/corpus/pretraining
#include <cstdint>

#include "tests/fuzz/run_fuzz.h"
#include "train/pretraining_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const linnet::SmallRun run;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  try {
    if (data[0] % 2 == 0) {
      run.write(linnet::kStartFile, text);
      linnet::check_start(run.folder, run.prepared, {.pretrain = "masked"}, "");
    } else {
      const nlohmann::ordered_json result = linnet::parse_result(text, "f");
      for (const auto& [name, value] : result.items())
        LINNET_ASSERT(name == "task" ? value.is_string() : value.is_number() || value.is_null());
      LINNET_ASSERT(linnet::parse_result(result.dump(), "f") == result);
    }
  } catch (const linnet::Error& error) {
    linnet::check_message(error.what());
  }
  return 0;
}
