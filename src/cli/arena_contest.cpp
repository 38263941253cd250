// arena_contest.cpp -- one record a run, stopped and gone on with at any moment.
#include "cli/arena_contest.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/arena_data.h"
#include "cli/arena_projection.h"
#include "cli/arena_results.h"
#include "cli/arena_run.h"
#include "cli/interrupt.h"
#include "cli/streams.h"
#include "cli/terminal.h"
#include "core/file.h"
#include "core/folder.h"
#include "core/folder_lock.h"
#include "models/model.h"
#include "train/run_memory.h"

namespace linnet {
namespace {

using Json = nlohmann::ordered_json;
constexpr const char* kRuns = "runs";                        // folder of the unfinished ones
using Key = std::tuple<std::string, std::string, uint64_t>;  // task, row, seed

class Contest {
 public:
  Contest(const ArenaOptions& options, const ConfigFlags& model, const RunFlags& train)
      : options_(options),
        model_(model),
        train_(train),
        lock_(options.folder),
        results_(options.results.empty() ? options.folder + "/results.jsonl" : options.results),
        paths_(arena_paths(options.tasks, options.data, options.folder)),
        context_(options.threads, 1, MemoryBudget(options.memory)) {
    remove_temporaries(std::filesystem::path(options.folder) / kRuns);
    read_results();
  }

  void run() {
    const Clock::time_point start = Clock::now();
    const double budget = options_.budget;
    const auto stop = [&] {
      return interrupted() || (budget > 0 && seconds_since(start) >= budget);
    };
    if (options_.project > 0) return project(stop);
    say_plan();
    check_data();
    // Seed after seed, so that an arena that is stopped has as many of each row.
    for (int64_t seed = 1; seed <= options_.seeds; ++seed) {
      for (const std::string& task : options_.tasks) {
        for (const ArenaRow& row : options_.rows) {
          if (done_.contains({task, row.name, static_cast<uint64_t>(seed)}) || stop()) continue;
          run_one(task, row, seed, stop);
        }
      }
    }
    say_rest();
  }

 private:
  void read_results() {
    const RunRecords& records = results_.records();
    const auto ours = [&](const auto& record) {
      return record.arena == options_.name && record.profile == options_.profile;
    };
    // Records of another arena are no beginning of this one.
    if (results_.was_empty() || std::ranges::any_of(records.plans, ours)) write_beginning();
    for (const RunRecord& run : records.runs) {
      if (!ours(run)) continue;
      if (!run.ok && options_.retry) continue;
      done_.insert({run.task, run.row, run.seed});
      if (!run.ok) continue;
      add_time(run.task, run.row, run.seconds);
      // A kill between record and removal leaves it. A record of others may have any name.
      if (is_file_name(run.task) && is_file_name(run.row))
        remove_own_folder(folder_of(run.task, run.row, static_cast<int64_t>(run.seed)));
    }
    for (const RunProjection& projection : records.projections)
      if (ours(projection)) projected_[{projection.task, projection.row}] = projection;
  }

  // The plan and the references, as far as the file does not have them: a kill can come between.
  void write_beginning() {
    std::set<std::string> known;
    for (const ReferenceScore& reference : results_.records().references)
      if (reference.task == "listops") known.insert(reference.name);
    std::vector<LadderRung> ladder;
    if (std::ranges::find(options_.tasks, "listops") != options_.tasks.end() &&
        known.size() < kLadderRungs)
      ladder = arena_ladder(context_, paths_["listops"]);
    if (results_.was_empty()) {
      results_.append({{"plan",
                        {{"arena", options_.name},
                         {"profile", options_.profile},
                         {"tasks", options_.tasks},
                         {"rows", options_.names},
                         {"seeds", options_.seeds}}}});
    }
    for (const LadderRung& rung : ladder) {
      if (!known.contains(std::string(rung.knows)))
        results_.append(
            {{"reference", rung.knows}, {"task", "listops"}, {"accuracy", rung.accuracy}});
    }
  }

  const PreparedTask& prepared(const std::string& task) {
    const auto found = prepared_.find(task);
    if (found != prepared_.end()) return found->second;
    DataChoice choice{.data = paths_.at(task), .task = task};
    choice.learn_tokenizer = false;  // the profiles are of bytes and ListOps words
    Progress progress("preparing " + task);
    PreparedTask ready = prepare(
        choice, options_.threads,
        [&](const std::string& what, double done) { progress.show(std::max(done, 0.0), what); });
    return prepared_.emplace(task, std::move(ready)).first->second;
  }

  // Of all tasks that have runs to come, before the first run: a row that does not fit into memory
  // and a fault in what is read at the end are told now. The shortest model is the one that some
  // data is too long for.
  void check_data() {
    for (const std::string& task : options_.tasks) {
      std::optional<ModelConfig> shortest;
      for (const ArenaRow& row : options_.rows) {
        if (rest_of(task, row.name) == 0) continue;
        const ArenaRun run = make_run(task, row, 1, prepared(task));
        context_.memory().check(
            fmt::format("to train row {}", row.name),
            run_need(run.config, prepared(task), run.settings, context_.threads()));
        if (!shortest || run.config.length < shortest->length) shortest = run.config;
      }
      if (!shortest || interrupted()) continue;
      Progress progress("checking " + task);
      check_later_parts(prepared(task), *shortest, [&](const std::string& what, double done) {
        progress.show(std::max(done, 0.0), what);
      });
    }
  }

  int64_t rest_of(const std::string& task, const std::string& row) const {
    int64_t runs = 0;
    for (int64_t seed = 1; seed <= options_.seeds; ++seed)
      runs += !done_.contains({task, row, static_cast<uint64_t>(seed)});
    return runs;
  }

  std::string folder_of(const std::string& task, const std::string& row, int64_t seed) const {
    return fmt::format("{}/{}/{}-{}-{}", options_.folder, kRuns, task, row, seed);
  }

  ArenaRun make_run(const std::string& task, const ArenaRow& row, int64_t seed,
                    const PreparedTask& data) const {
    const ArenaModel own = arena_model(options_.profile, task, options_.settings, row);
    ArenaRun run{.arena = options_.name,
                 .profile = options_.profile,
                 .task = task,
                 .row = row.name,
                 .seed = seed,
                 .config = model_.apply(own.config),
                 .settings = train_.apply(own.settings),
                 .folder = folder_of(task, row.name, seed),
                 .change_target = options_.change_target};
    run.settings.seed = seed;
    run.config.classes = static_cast<int64_t>(data.settings.labels.size());
    return run;
  }

  void run_one(const std::string& task, const ArenaRow& row, int64_t seed,
               const std::function<bool()>& stop) {
    const PreparedTask& data = prepared(task);
    const ArenaRun run = make_run(task, row, seed, data);
    std::optional<Json> record;
    {
      Progress progress(fmt::format("{:<9} {:<14} seed {}", task, row.name, seed));
      record = run_in_arena(context_, run, data, stop, [&](double done, const std::string& note) {
        progress.show(done, note);
      });
    }
    if (!record) return;
    results_.append(*record);
    done_.insert({task, row.name, static_cast<uint64_t>(seed)});
    if ((*record)["status"] == "ok") {
      add_time(task, row.name, (*record)["seconds"].get<double>());
      remove_folder(run);
    } else {
      print_note("linnet: {} {} seed {} failed: {}\n", task, row.name, seed,
                 (*record)["error"].get<std::string>());
    }
  }

  static void remove_folder(const ArenaRun& run) {
    if (!remove_own_folder(run.folder))
      print_note("linnet: {} was not made by linnet, so it is left\n", place_of(run.folder));
  }

  // Instead of runs: some steps of each row and task, and what a whole run would take.
  void project(const std::function<bool()>& stop) {
    for (const std::string& task : options_.tasks) {
      for (const ArenaRow& row : options_.rows) {
        if (stop()) continue;
        const PreparedTask& data = prepared(task);
        ArenaRun run = make_run(task, row, 1, data);
        if (is_projected(run)) continue;
        run.folder += "-projection";
        Progress progress(fmt::format("{:<9} {:<14}", task, row.name));
        const std::optional<Json> record =
            project_run(context_, run, data, options_.project, stop,
                        [&](double done, const std::string& note) { progress.show(done, note); });
        remove_folder(run);
        if (record) results_.append(*record);
      }
    }
    print_out("records: {}\nreport:  linnet report {} --out report.html\n", results_.path(),
              results_.path());
  }

  // By as many steps, of a run of the same length and size.
  bool is_projected(const ArenaRun& run) const {
    const auto found = projected_.find({run.task, run.row});
    if (found == projected_.end()) return false;
    const RunProjection& known = found->second;
    const auto parameters = static_cast<double>(Model(run.config).layout().parameters());
    return known.measured_steps >= static_cast<double>(options_.project) &&
           known.steps == static_cast<double>(run.settings.steps) && known.parameters == parameters;
  }

  void add_time(const std::string& task, const std::string& row, double seconds) {
    for (const std::string& key : {task + " " + row, task, std::string()}) {
      auto& [sum, count] = times_[key];
      sum += seconds;
      ++count;
    }
  }
  // By the runs of this row, else of this task, else of all; 0 when there are none.
  double expected_seconds(const std::string& task, const std::string& row) const {
    for (const std::string& key : {task + " " + row, task, std::string()}) {
      const auto found = times_.find(key);
      if (found != times_.end()) return found->second.first / found->second.second;
    }
    return 0;
  }

  std::pair<int64_t, double> rest() const {
    int64_t runs = 0;
    double seconds = 0;
    for (const std::string& task : options_.tasks) {
      for (const std::string& row : options_.names) {
        const int64_t left = rest_of(task, row);
        runs += left;
        seconds += static_cast<double>(left) * expected_seconds(task, row);
      }
    }
    return {runs, seconds};
  }

  void say_plan() const {
    const auto all =
        static_cast<int64_t>(options_.tasks.size() * options_.rows.size()) * options_.seeds;
    print_out("{}, profile {}: {} tasks x {} rows x {} seeds; {} of {} runs are done\n",
              options_.name, options_.profile, options_.tasks.size(), options_.rows.size(),
              options_.seeds, all - rest().first, all);
    flush_out();
  }

  void say_rest() const {
    const auto [runs, seconds] = rest();
    if (runs == 0) {
      print_out("all runs are done\n");
    } else {
      print_out("{} runs are left{}; the same command goes on\n", runs,
                seconds > 0 ? fmt::format(", about {:.0f} minutes", seconds / 60) : "");
    }
    print_out("records: {}\nreport:  linnet report {} --out report.html\n", results_.path(),
              results_.path());
  }

  ArenaOptions options_;
  ConfigFlags model_;
  RunFlags train_;
  FolderLock lock_;
  ArenaResults results_;
  std::map<std::string, std::string> paths_;
  std::map<std::string, PreparedTask> prepared_;
  Context context_;
  std::set<Key> done_;
  std::map<std::pair<std::string, std::string>, RunProjection> projected_;  // by task and row
  std::map<std::string, std::pair<double, double>> times_;                  // sum of seconds, runs
};

}  // namespace

void run_contest(const ArenaOptions& options, const ConfigFlags& model, const RunFlags& train) {
  Contest(options, model, train).run();
}

}  // namespace linnet
