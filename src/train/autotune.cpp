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
#include "train/search_record.h"

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
                  {"bytes", prepared.bytes},
                  {"content", content_text(prepared.content)}};
    for (const Candidate& candidate : candidates) asked["candidates"].push_back(candidate.changes);
    make_folders(folder);
    load(asked);
  }

  std::optional<size_t> run() {
    if (search_.chosen) return search_.chosen;
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
    return folder_ / kSearchFolder / fmt::format("{:02}", candidate);
  }

  // Goes on from a record, or begins one.
  void load(const Json& asked) {
    if (!fs::exists(record())) return write({{"asked", asked}});
    text_ = read_file(record(), kLargestRecord);
    search_ = parse_search(text_, place_of(record()), {candidates_.size(), rounds_},
                           std::string(prepared_.task->metric));
    nlohmann::json before = with_defaults(search_.asked);
    before.emplace("content", asked["content"]);  // of an earlier version: not known
    if (before != with_defaults(asked)) {
      throw Error(fmt::format(
          "[{}] is of a search with other settings, data or time: take another --out, or remove "
          "the folder",
          place_of(record())));
    }
  }

  // The file is small and replaced at once: a kill leaves no half line.
  void write(const Json& line) {
    text_ += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    write_file(record(), text_);
  }

  std::optional<TuningLook> recorded(int round, size_t candidate) const {
    for (TuningLook look : search_.looks) {
      if (look.round != round || look.candidate != candidate) continue;
      look.rounds = rounds_;
      return look;
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
  SearchRecord search_;           // as it was when it was opened
  std::string text_;              // of the record
};

}  // namespace

std::optional<size_t> autotune(Context& context, const fs::path& folder, double minutes,
                               const PreparedTask& prepared,
                               const std::vector<Candidate>& candidates, const TuningWatch& watch) {
  return Search(context, folder, minutes, prepared, candidates, watch).run();
}

}  // namespace linnet
