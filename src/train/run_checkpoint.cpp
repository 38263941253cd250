// run_checkpoint.cpp -- what a run writes to go on from, and how it goes on.
#include <cmath>

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
  visit("epochs", s.epochs, "");
  visit("seconds", s.seconds, "");
  visit("best", s.best, "");
  visit("best_loss", s.best_loss, "");
  visit("log_bytes", s.log_bytes, "");
  visit("epoch", position.epoch, "");
  visit("record", position.record, "");
  visit("batch", position.batch, "");
}

// Pairs of a name and a number; null is NaN.
Figures read_figures(const nlohmann::json& json) {
  Figures figures;
  for (const nlohmann::json& pair : json) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() ||
        printable(pair[0].get<std::string>()) != pair[0] ||
        !(pair[1].is_number() || pair[1].is_null()))
      throw Error("[checkpoint.wide_figures] must be pairs of a name and a number");
    figures.emplace_back(pair[0], pair[1].is_null() ? NAN : pair[1].get<double>());
  }
  return figures;
}

}  // namespace

bool Run::checkpoint_due() const {
  if (settings_.checkpoint_every > 0) return steps() % settings_.checkpoint_every == 0;
  return std::chrono::duration<double>(Clock::now() - saved_).count() >= kSaveEvery;
}

void Run::save_checkpoint() {
  log_->sync();  // a checkpoint on the disk must not speak of lines that are not
  State state = state_;
  state.seconds = seconds();
  state.log_bytes = log_->size();
  FeedPosition position = feed_->position();
  Json note;
  for_each_field(state, position,
                 [&](const char* name, auto& member, const char*) { note[name] = member; });
  note["wide_figures"] = state.wide_figures;
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
  if (has_side_parts(config_) && json.contains("wide_figures"))
    state_.wide_figures = read_figures(json["wide_figures"]);
  // Of earlier versions it is the accuracy, of the same look.
  if (metric() == "loss" && !std::isnan(state_.best)) state_.best = state_.best_loss;
  return true;
}

}  // namespace linnet
