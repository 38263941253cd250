// autotune.cpp -- rounds of runs, and the record of them that a stopped search goes on from.
#include "train/autotune.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/file.h"
#include "core/folder.h"
#include "train/run.h"
#include "train/run_identity.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr size_t kLargestRecord = size_t{1} << 26;  // bytes of autotune.jsonl
constexpr double kFailed = std::numeric_limits<double>::quiet_NaN();

class Search {
 public:
  Search(Context& context, const fs::path& folder, double minutes, const PreparedTask& prepared,
         const std::vector<Candidate>& candidates, const TuningWatch& watch)
      : context_(context),
        folder_(folder),
        prepared_(prepared),
        candidates_(candidates),
        watch_(watch),
        rounds_(std::countr_zero(candidates.size())) {
    LINNET_ASSERT(std::has_single_bit(candidates.size()) && rounds_ > 0);
    const auto n = static_cast<double>(candidates.size());
    candidate_minutes_ = minutes / (rounds_ * n) * (n - 1);
    Json asked = {{"minutes", minutes},
                  {"metric", metric_of(*prepared.task, candidates[0].settings)},
                  {"model", config_to_json(candidates[0].config)},
                  {"train", run_settings_to_json(candidates[0].settings)},
                  {"records", prepared.records},
                  {"bytes", prepared.bytes}};
    for (const Candidate& candidate : candidates) asked["candidates"].push_back(candidate.changes);
    make_folders(folder);
    load(asked);
  }

  std::optional<size_t> run() {
    if (lines_.back().contains("chosen")) return lines_.back()["chosen"].get<size_t>();
    std::vector<size_t> alive(candidates_.size());
    for (size_t i = 0; i < alive.size(); ++i) alive[i] = i;
    for (int round = 1; round <= rounds_; ++round) {
      std::vector<TuningLook> looks;
      for (const size_t candidate : alive) {
        std::optional<TuningLook> look = recorded(round, candidate);
        if (!look && !(look = train(round, candidate))) return std::nullopt;
        looks.push_back(*look);
      }
      std::ranges::stable_sort(looks, [&](const auto& a, const auto& b) { return better(a, b); });
      if (!looks[0].error.empty()) throw Error(looks[0].error);
      watch_.ranking(looks);
      alive.clear();
      for (size_t i = 0; i < looks.size() / 2; ++i) alive.push_back(looks[i].candidate);
      std::ranges::sort(alive);
      for (size_t i = looks.size() / 2; i < looks.size(); ++i) remove_states(looks[i].candidate);
    }
    write({{"chosen", alive[0]}, {"changes", candidates_[alive[0]].changes}});
    remove_states(alive[0]);
    return alive[0];
  }

 private:
  fs::path record() const { return folder_ / "autotune.jsonl"; }
  fs::path place(size_t candidate) const {
    return folder_ / "autotune" / fmt::format("{:02}", candidate);
  }

  // Goes on from a record, or begins one.
  void load(const Json& asked) {
    if (!fs::exists(record())) return write({{"asked", asked}});
    const std::string text = read_file(record(), kLargestRecord);
    for (std::string_view rest = text; !rest.empty();) {
      const size_t end = std::min(rest.find('\n'), rest.size() - 1);
      lines_.push_back(Json::parse(rest.substr(0, end), nullptr, false));
      if (!readable(lines_.back()))
        throw Error(
            fmt::format("[{}:{}] is no line of a search", place_of(record()), lines_.size()));
      rest.remove_prefix(end + 1);
    }
    const Json before = lines_.empty() ? Json() : lines_[0].value("asked", Json());
    if (!before.is_object() || with_defaults(before) != with_defaults(asked)) {
      throw Error(fmt::format(
          "[{}] is of a search with other settings, data or time: take another --out, or remove "
          "the folder",
          place_of(record())));
    }
  }

  bool readable(const Json& line) const {
    if (!line.is_object()) return false;
    if (line.contains("asked")) return true;
    if (line.contains("chosen"))
      return line["chosen"].is_number_unsigned() &&
             line["chosen"].get<size_t>() < candidates_.size();
    if (line.contains("error") && !line["error"].is_string()) return false;
    return std::ranges::all_of(
        std::initializer_list<const char*>{"round", "candidate", "loss", "steps", "seconds"},
        [&](const char* name) { return line.contains(name) && line[name].is_number(); });
  }

  // The file is small and replaced at once: a kill leaves no half line.
  void write(const Json& line) {
    lines_.push_back(line);
    std::string text;
    for (const Json& each : lines_)
      text += each.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    write_file(record(), text);
  }

  std::optional<TuningLook> recorded(int round, size_t candidate) const {
    for (const Json& line : lines_) {
      if (line.value("round", 0) != round || line.value("candidate", SIZE_MAX) != candidate)
        continue;
      // Earlier versions wrote the score by the name of its metric.
      const Json score =
          line.value("score", line.value(std::string(prepared_.task->metric), Json()));
      return TuningLook{.round = round,
                        .rounds = rounds_,
                        .candidate = candidate,
                        .score = score.is_number() ? score.get<double>() : kFailed,
                        .loss = line["loss"].get<double>(),
                        .steps = line["steps"].get<int64_t>(),
                        .seconds = line["seconds"].get<double>(),
                        .error = line.value("error", "")};
    }
    return std::nullopt;
  }

  // To the end of the round; none when it was stopped.
  std::optional<TuningLook> train(int round, size_t candidate) {
    TuningLook look{.round = round, .rounds = rounds_, .candidate = candidate, .score = kFailed};
    RunSettings settings = candidates_[candidate].settings;
    settings.steps = 0;
    settings.epochs = 0;
    settings.minutes = candidate_minutes_;
    settings.patience = 0;
    // Looks at validation are so many that each round ends with one.
    settings.evaluations = static_cast<int64_t>(candidates_.size()) - 1;
    const int64_t looks = (int64_t{1} << round) - 1;
    make_folders(place(candidate));
    try {
      Run run(context_, place(candidate), candidates_[candidate].config, prepared_, settings);
      while (run.evaluations() < looks && !run.finished()) {
        if (watch_.stop()) {
          run.save_checkpoint();
          return std::nullopt;
        }
        run.advance();
      }
      if (!std::isfinite(run.best_loss()))
        throw Diverged(fmt::format("[train] the loss on validation is {}", run.best_loss()));
      look.score = run.best();
      look.loss = run.best_loss();
      look.steps = run.steps();
      look.seconds = run.seconds();
    } catch (const Diverged& error) {  // a full disk or broken data is no fault of the candidate
      look.error = error.what();
    }
    Json line = {{"round", round},
                 {"candidate", candidate},
                 {"changes", candidates_[candidate].changes},
                 {"score", look.score},
                 {"loss", look.loss},
                 {"steps", look.steps},
                 {"seconds", look.seconds}};
    if (!look.error.empty()) line["error"] = look.error;
    write(line);
    watch_.look(look);
    return look;
  }

  bool better(const TuningLook& a, const TuningLook& b) const {
    if (a.error.empty() != b.error.empty()) return a.error.empty();
    return is_better(metric_of(*prepared_.task, candidates_[0].settings), {a.score, a.loss},
                     {b.score, b.loss});
  }

  // The large files of a candidate that is not needed any more; its metrics stay.
  void remove_states(size_t candidate) const {
    std::error_code ignored;
    for (const char* name : {"checkpoint.safetensors", "model.safetensors"})
      fs::remove(place(candidate) / name, ignored);
  }

  Context& context_;
  fs::path folder_;
  const PreparedTask& prepared_;
  const std::vector<Candidate>& candidates_;
  const TuningWatch& watch_;
  int rounds_;
  double candidate_minutes_ = 0;  // of one that comes to the end
  std::vector<Json> lines_;       // of the record
};

}  // namespace

std::optional<size_t> autotune(Context& context, const fs::path& folder, double minutes,
                               const PreparedTask& prepared,
                               const std::vector<Candidate>& candidates, const TuningWatch& watch) {
  return Search(context, folder, minutes, prepared, candidates, watch).run();
}

}  // namespace linnet
