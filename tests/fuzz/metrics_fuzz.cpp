// metrics_fuzz.cpp -- any bytes are the metrics.jsonl of a run, or give one clear Error with the
// line.
//
//   metrics_fuzz tests/fuzz/corpus/metrics
#include <cstdint>
#include <sstream>

#include "tests/fuzz/run_fuzz.h"
#include "train/run_log.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::istringstream lines(std::string(reinterpret_cast<const char*>(data), size));
  try {
    const linnet::RunLog log = linnet::read_run_log(lines, "f");
    for (size_t i = 0; i < log.looks.size(); ++i) {
      LINNET_ASSERT(log.looks[i].steps <= log.steps.size());
      log.mean_loss_before(i);
    }
  } catch (const linnet::Error& error) {
    linnet::check_message(error.what());
  }
  return 0;
}
