// autotune.h -- the best of some candidates within a time, by validation: successive halving.
//
// N = 2^R candidates, R rounds of equal time. In the first all get a part of their training, in
// each round after it the better half goes on, twice as long: after round r a candidate has done
// (2^r - 1) / (2^R - 1) of its training, and the last one is chosen. Each is a Run in a folder of
// its own, so going on is exact. Time is by the clock, so the choice may differ from run to run.
//
// Jamieson and Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization",
// 2016. Test data is not looked at.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "core/context.h"
#include "data/prepare.h"
#include "train/tuning_space.h"

namespace linnet {

inline constexpr const char* kSearchFolder = "autotune";  // of its runs, in the folder of the run

// One candidate at the end of a round.
struct TuningLook {
  int round = 0, rounds = 0;  // from 1
  size_t candidate = 0;
  double score = 0;  // the figure that decides, best so far; NaN: no look had it
  double loss = 0;   // on validation, of the same look; it decides between equals
  int64_t steps = 0;
  double seconds = 0;      // of training, all rounds
  std::string error = {};  // of a run that failed
};

struct TuningWatch {
  std::function<bool()> stop;                            // asked after every step
  std::function<void(const TuningLook&)> look;           // a candidate came to the end of a round
  std::function<void(std::vector<TuningLook>)> ranking;  // the round, the best first
};

// The chosen one; none when it was stopped. Everything is in folder/autotune.jsonl (what was asked,
// one line a look, the choice) and folder/autotune/NN: called again, it goes on there; with other
// candidates, data or time it is an Error.
std::optional<size_t> autotune(Context& context, const std::filesystem::path& folder,
                               double minutes, const PreparedTask& prepared,
                               const std::vector<Candidate>& candidates, const TuningWatch& watch);

}  // namespace linnet
