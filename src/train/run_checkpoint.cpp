// run_checkpoint.cpp -- what a run writes to go on from, and how it goes on.
#include <fmt/format.h>

#include <cmath>

#include "core/file.h"
#include "train/run.h"

namespace linnet {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSaveEvery = 60;  // seconds

int64_t size_of(const std::filesystem::path& file) {
  return std::filesystem::exists(file) ? static_cast<int64_t>(std::filesystem::file_size(file)) : 0;
}

}  // namespace

bool Run::checkpoint_due() const {
  if (settings_.checkpoint_every > 0) return steps() % settings_.checkpoint_every == 0;
  return std::chrono::duration<double>(Clock::now() - saved_).count() >= kSaveEvery;
}

void Run::save_checkpoint() {
  log_->sync();  // a checkpoint on the disk must not speak of lines that are not
  RunNote note{state_, feed_->position()};
  note.state.seconds = seconds();
  note.state.log_bytes = log_->size();
  trainer_.save_state(folder_ / "checkpoint.safetensors", note_text(note));
  saved_ = Clock::now();
}

bool Run::load_checkpoint(FeedPosition& position) {
  const std::filesystem::path path = folder_ / "checkpoint.safetensors";
  if (!std::filesystem::exists(path)) return false;
  const std::string text = trainer_.load_state(path);
  RunNote note = parse_note(text, place_of(path),
                            {.steps = trainer_.steps(),
                             .evaluations = settings_.evaluations,
                             .records = prepared_.records,
                             .log_bytes = size_of(folder_ / "metrics.jsonl")});
  if (!has_side_parts(config_)) note.state.wide_figures.clear();
  state_ = note.state;
  position = note.position;
  // Of earlier versions it is the accuracy, of the same look.
  if (metric() == "loss" && !std::isnan(state_.best)) state_.best = state_.best_loss;
  done_ = measure_progress();
  // Those of earlier versions do not know their epochs yet.
  const bool knows = settings_.epochs == 0 || state_.epochs > 0;
  if (knows && static_cast<double>(state_.evaluations) > looks_due()) {
    throw Error(fmt::format("[{}] [checkpoint.evaluations] must be at most {} by now, not {}",
                            place_of(path), looks_due(), state_.evaluations));
  }
  return true;
}

}  // namespace linnet
