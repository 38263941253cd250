// train_loop.h -- runs a training run to its end, with a bar, until the user stops it.
#pragma once

#include "cli/terminal.h"
#include "train/run.h"

namespace linnet {

// The part of the bar that a run fills: all of it, or one of two.
struct BarPart {
  double from = 0, to = 1;
};
// To the end, with a checkpoint there; a stop by the user saves, says so and ends the program.
void train_to_end(Run& run, bool quiet, Progress& bar, const BarPart& part);

}  // namespace linnet
