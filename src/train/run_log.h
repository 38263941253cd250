// run_log.h -- metrics.jsonl of a run, read again: what its steps and its looks measured.
#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <string>
#include <vector>

namespace linnet {

// What was not finite, or is not there, is NaN.
struct RunLog {
  struct Step {
    double loss, tokens, seconds, tokens_per_s;
  };
  struct Look {
    int64_t step;
    double seconds, validation_loss, validation_accuracy;
    size_t steps;  // lines of steps before it
  };
  std::vector<Step> steps;
  std::vector<Look> looks;

  // Of the steps between a look and the one before it; 0 where there are none.
  double mean_loss_before(size_t look) const;
};

// An Error names the line and what is wrong with it.
RunLog read_run_log(std::istream& lines, const std::string& place);
RunLog load_run_log(const std::filesystem::path& file);

}  // namespace linnet
