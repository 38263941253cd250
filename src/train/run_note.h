// run_note.h -- what a run knows beside its trainer, as the note in its checkpoint: a JSON object.
//
// A checkpoint may come from a broken disk or from anybody, and a number that cannot be would lead
// a run on from nowhere. So each is held against what is known of the run otherwise; what only the
// data can tell is looked at by the Feed.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "data/feed.h"
#include "train/task_score.h"

namespace linnet {

struct RunState {
  int64_t tokens = 0, evaluations = 0, best_evaluation = 0;
  double epochs = 0;  // done; the feed knows it only after its first batch
  double seconds = 0, best = std::numeric_limits<double>::quiet_NaN(), best_loss = 0;
  int64_t log_bytes = 0;  // of metrics.jsonl; what follows is of steps that are taken again
  Figures wide_figures;   // of the model with its parts at the side before they saw validation
};

struct RunNote {
  RunState state;
  FeedPosition position;
};

// What is known of the run without its note.
struct NoteLimits {
  int64_t steps = 0;        // that the trainer has taken
  int64_t evaluations = 0;  // that its settings ask for
  int64_t records = 0;      // of train
  int64_t log_bytes = 0;    // that metrics.jsonl has
};

std::string note_text(const RunNote& note);
// An Error names `place`, the field and what it must be.
RunNote parse_note(std::string_view text, std::string_view place, const NoteLimits& limits);

}  // namespace linnet
