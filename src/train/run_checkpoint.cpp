// run_checkpoint.cpp -- what a run writes to go on from, and how it goes on.
#include <fmt/format.h>

#include "core/error.h"
#include "core/file.h"
#include "core/settings.h"
#include "train/run.h"

namespace linnet {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr double kSaveEvery = 60;  // seconds

// The fields of the note in a checkpoint: visit(name, member, help).
template <class State, class Visit>
void for_each_field(State& s, FeedPosition& position, const Visit& visit) {
  visit("tokens", s.tokens, "");
  visit("evaluations", s.evaluations, "");
  visit("best_evaluation", s.best_evaluation, "");
  visit("seconds", s.seconds, "");
  visit("best", s.best, "");
  visit("best_loss", s.best_loss, "");
  visit("log_bytes", s.log_bytes, "");
  visit("epoch", position.epoch, "");
  visit("record", position.record, "");
  visit("batch", position.batch, "");
}

}  // namespace

bool Run::checkpoint_due() const {
  if (settings_.checkpoint_every > 0) return steps() % settings_.checkpoint_every == 0;
  return std::chrono::duration<double>(Clock::now() - saved_).count() >= kSaveEvery;
}

void Run::save_checkpoint() {
  if (std::fflush(log_) != 0)
    throw Error(fmt::format("[{}] cannot write", place_of(folder_ / "metrics.jsonl")));
  State state = state_;
  state.seconds = seconds();
  FeedPosition position = feed_->position();
  Json note;
  for_each_field(state, position,
                 [&](const char* name, auto& member, const char*) { note[name] = member; });
  trainer_.save_state(folder_ / "checkpoint.safetensors", note.dump());
  saved_ = Clock::now();
}

bool Run::load_checkpoint(FeedPosition& position) {
  const std::filesystem::path path = folder_ / "checkpoint.safetensors";
  if (!std::filesystem::exists(path)) return false;
  const std::string note = trainer_.load_state(path);
  const nlohmann::json json = parse_settings(note, place_of(path));
  for_each_field(state_, position, [&](const char* name, auto& member, const char*) {
    if (json.contains(name) && !json[name].is_null())
      read_setting("checkpoint", name, json[name], member);
  });
  return true;
}

// Lines after the checkpoint are of steps that are taken again.
void Run::open_log() {
  const std::filesystem::path path = folder_ / "metrics.jsonl";
  std::error_code failure;
  if (std::filesystem::exists(path)) {
    const auto size = static_cast<int64_t>(std::filesystem::file_size(path, failure));
    if (!failure && size > state_.log_bytes)
      std::filesystem::resize_file(path, static_cast<uintmax_t>(state_.log_bytes), failure);
    state_.log_bytes = std::min(size, state_.log_bytes);
  }
  log_ = std::fopen(path.c_str(), "ab");
  if (!log_ || failure) throw Error(fmt::format("[{}] cannot write", place_of(path)));
}

}  // namespace linnet
