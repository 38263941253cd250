// run_json_fuzz.cpp -- any run.json is that of a run, of another one, or gives one clear Error; its
// CPU target can be taken or changed.
//
//   run_json_fuzz tests/fuzz/corpus/run_json
#include <cstdint>

#include "tests/fuzz/run_fuzz.h"
#include "train/run_identity.h"
#include "train/run_target.h"

namespace {

template <class Do>
bool works(const Do& work) {
  try {
    work();
    return true;
  } catch (const linnet::Error& error) {
    linnet::check_message(error.what());
    return false;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const linnet::SmallRun run;
  run.write("run.json", {reinterpret_cast<const char*>(data), size});
  const auto same = [] {
    linnet::check_identity(run.folder, run.prepared, run.config, run.settings);
  };
  // With the target that it began with, where there is such a one; then with the usual one.
  const bool taken = works([] { linnet::take_target(run.folder, false); });
  const bool is_same = taken && works(same);
  if (!works([] { linnet::take_target(run.folder, true); })) LINNET_ASSERT(!taken);
  if (is_same) LINNET_ASSERT(works(same));
  return 0;
}
