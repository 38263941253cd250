// bench_mixers.cpp -- the measurements of `linnet bench mixers`.
//
// One sequence on one thread through a model of one block, C = 128, 4 heads; forward is inference,
// training is forward, backward and the sum of the gradients. Kinds take turns at every length, the
// best of the rounds counts. Memory is the growth of the process's peak while the kind runs.
#include "cli/bench_mixers.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/bench_engine.h"
#include "cli/measure.h"
#include "cli/memory.h"
#include "cli/streams.h"
#include "cli/terminal.h"
#include "core/error.h"
#include "core/random.h"
#include "models/inference.h"
#include "models/profiles.h"
#include "train/run_memory.h"

namespace linnet {
namespace {

using Json = nlohmann::ordered_json;

ModelConfig mixer_config(const std::string& mixer, int64_t length) {
  ModelConfig config;
  config.width = 128;
  config.heads = 4;
  config.blocks = 1;
  config.hidden = 256;
  config.head_units = 64;
  config.length = length;
  config.positions = "none";
  config.pool = "mean";
  config.dropout = 0;
  config.mixer = mixer;
  return config;
}

constexpr int64_t kShortest = 256;

struct Sample {
  double seconds = 0, bytes = 0;  // best time, memory
};
// By length.
using Curve = std::map<int64_t, Sample>;

struct Kind {
  std::string name;
  std::map<bool, Curve> curves;  // of training or not
  // Would take longer than the limit at this length, by its last two.
  bool too_slow(bool training, int64_t length, double limit) const {
    const auto it = curves.find(training);
    if (it == curves.end() || it->second.empty()) return false;
    const auto last = it->second.rbegin();
    if (last->first * 2 != length) return last->first < length;
    const auto before = std::next(last);
    const double growth =
        before == it->second.rend() ? 2 : last->second.seconds / before->second.seconds;
    return last->second.seconds * growth > limit;
  }
};

class MixersBench {
 public:
  explicit MixersBench(const BenchMixersOptions& options) : options_(options) {
    for (const Mixer* mixer : mixers()) {
      const std::string name(mixer->name);
      const auto& asked = options_.mixers;
      if (asked.empty() || std::find(asked.begin(), asked.end(), name) != asked.end())
        kinds_.push_back({name, {}});
    }
  }

  void run() {
    Progress progress("bench mixers");
    for (const Kind& kind : kinds_) check(kind);
    std::vector<std::pair<int64_t, bool>> plan;
    for (int64_t T = kShortest; T <= options_.longest; T *= 2) {
      plan.emplace_back(T, false);
      plan.emplace_back(T, true);
    }
    double done = 0;
    for (const auto& [length, training] : plan) {
      progress.show(done / static_cast<double>(plan.size()),
                    fmt::format("T={}{}", length, training ? ", training" : ""));
      measure(length, training);
      done += 1;
    }
    progress.show(1, "");
  }

  // One line a kind and mode: the cost that the record names, and what was measured of it.
  void print_growth() const {
    for (const Kind& kind : kinds_) {
      for (const bool training : {false, true}) {
        const std::optional<Growth> growth = growth_of(kind, training);
        if (!growth) continue;
        write_json(Json{{"mixer", kind.name},
                        {"cost", find_mixer(kind.name).cost},
                        {"grows_in", training ? "train" : "infer"},
                        {"growth", growth->measured},
                        {"claimed", growth->claimed}});
      }
    }
  }

  void print() const {
    for (const bool training : {false, true}) {
      std::vector<std::vector<std::string>> table = {{training ? "training" : "forward"}};
      for (int64_t T = kShortest; T <= options_.longest; T *= 2)
        table[0].push_back(T < 1024 ? fmt::format("{}", T) : fmt::format("{}Ki", T / 1024));
      table[0].insert(table[0].end(), {"growth", "claimed", "MB", "beats softmax from"});
      for (const Kind& kind : kinds_) table.push_back(row(kind, training));
      print_out("\nMicroseconds a token, {}, one thread\n", table[0][0]);
      write_out(format_table(table));
    }
    print_out(
        "\ngrowth: time at 2T over time at T above 4096; claimed: the same of the operations that "
        "the "
        "records count; MB: at the longest length measured.\n");
  }

 private:
  static Example random_example(int64_t length) {
    Example example{.tokens = {}, .label = 0};
    Random random(7);
    for (int64_t t = 0; t < length; ++t)
      example.tokens.push_back(static_cast<int32_t>(random.below(256)));
    return example;
  }

  // What is timed must be right: inference, with folded weights and nothing kept, gives the loss of
  // the training pass.
  void check(const Kind& kind) {
    context_.memory().check("to train " + kind.name, need(kind, true, kShortest));
    const Example example = random_example(300);
    const Model model(mixer_config(kind.name, 300));
    Trainer trainer(context_, model, Parameters::initial(model, 1), {});
    const Example* batch[] = {&example};
    const double trained = trainer.accumulate(batch).loss;
    const double inferred =
        evaluate(context_, model, trainer.values(), std::span(&example, 1)).loss;
    if (!(std::abs(trained - inferred) < 1e-4 * (1 + std::abs(trained)))) {
      throw Error(fmt::format("[bench] {}: loss {} in training, {} in inference", kind.name,
                              trained, inferred));
    }
  }

  MemoryNeed need(const Kind& kind, bool training, int64_t length) const {
    const Model model(mixer_config(kind.name, length));
    return training ? training_need(model, {.optimizer = {}, .lanes = 1}, 1, length)
                    : inference_need(model, 1, 1, length, 1);
  }
  bool fits(const Kind& kind, bool training, int64_t length) const {
    return need(kind, training, length).bytes() <= context_.memory().bytes();
  }

  void measure(int64_t length, bool training) {
    const Example example = random_example(length);
    std::vector<Kind*> contenders;
    for (Kind& kind : kinds_) {
      if (!kind.too_slow(training, length, options_.limit) && fits(kind, training, length))
        contenders.push_back(&kind);
    }
    for (int round = 0; round < options_.rounds; ++round) {
      for (Kind* kind : contenders) {
        const Sample sample = run_once(*kind, example, training);
        Sample& best = kind->curves[training][length];
        if (round == 0 || sample.seconds < best.seconds) best.seconds = sample.seconds;
        best.bytes = std::max(best.bytes, sample.bytes);
      }
    }
    for (const Kind* kind : contenders) {
      const Sample& sample = kind->curves.at(training).at(length);
      if (!options_.json) continue;
      write_json(Json{{"mixer", kind->name},
                      {"mode", training ? "train" : "infer"},
                      {"length", length},
                      {"seconds", sample.seconds},
                      {"tokens_per_s", static_cast<double>(length) / sample.seconds},
                      {"memory_mb", sample.bytes * 1e-6}});
      flush_out();
    }
  }

  Sample run_once(const Kind& kind, const Example& example, bool training) {
    const auto length = static_cast<int64_t>(example.tokens.size());
    const Model model(mixer_config(kind.name, length));
    reset_peak_memory();
    const auto before = static_cast<double>(peak_memory());
    const auto timed = [&](const std::function<void()>& step) {
      step();  // memory is touched, caches are warm
      // Short sequences several times, so that the clock does not matter.
      return static_cast<double>(length) / repeat(0.02, static_cast<double>(length), step);
    };
    Sample sample;
    if (training) {
      Trainer trainer(context_, model, Parameters::initial(model, 1),
                      {.optimizer = {}, .lanes = 1});
      const Example* batch[] = {&example};
      sample.seconds = timed([&] { trainer.accumulate(batch); });
      sample.bytes = static_cast<double>(peak_memory()) - before;
    } else {
      Inference inference(context_, model, Parameters::initial(model, 1));
      const Tokens sequence = example.tokens;
      sample.seconds = timed([&] { inference.logits({&sequence, 1}); });
      sample.bytes = static_cast<double>(peak_memory()) - before;
    }
    return sample;
  }

  std::vector<std::string> row(const Kind& kind, bool training) const {
    const Curve& curve = kind.curves.at(training);
    std::vector<std::string> cells = {kind.name};
    for (int64_t T = kShortest; T <= options_.longest; T *= 2) {
      const auto it = curve.find(T);
      cells.push_back(it == curve.end() ? "-"
                                        : fmt::format("{:.3g}", it->second.seconds * 1e6 /
                                                                    static_cast<double>(T)));
    }
    const std::optional<Growth> growth = growth_of(kind, training);
    cells.push_back(growth ? fmt::format("{:.2f}", growth->measured) : "-");
    cells.push_back(growth ? fmt::format("{:.2f}", growth->claimed) : "-");
    cells.push_back(fmt::format("{:.0f}", curve.rbegin()->second.bytes * 1e-6));
    cells.push_back(crossover(kind, training));
    return cells;
  }

  // Factors from T to 2T above 4096, in the geometric mean: of the time, and of the operations that
  // the model counts by the mixer's record.
  struct Growth {
    double measured, claimed;
  };
  static std::optional<Growth> growth_of(const Kind& kind, bool training) {
    const Curve& curve = kind.curves.at(training);
    const auto first = curve.find(4096);
    const auto last = curve.rbegin();
    if (first == curve.end() || last->first == 4096) return {};
    const double power = 1 / std::log2(static_cast<double>(last->first) / 4096);
    const Model model(mixer_config(kind.name, last->first));
    return Growth{std::pow(last->second.seconds / first->second.seconds, power),
                  std::pow(model.forward_flops(last->first, !training) /
                               model.forward_flops(first->first, !training),
                           power)};
  }

  // The first length at which the kind is faster than softmax and stays so.
  std::string crossover(const Kind& kind, bool training) const {
    const Kind* exact = nullptr;
    for (const Kind& k : kinds_) exact = k.name == "softmax" ? &k : exact;
    if (!exact || exact == &kind) return "-";
    int64_t from = 0;
    for (const auto& [length, sample] : kind.curves.at(training)) {
      const auto theirs = exact->curves.at(training).find(length);
      if (theirs == exact->curves.at(training).end()) break;
      if (sample.seconds >= theirs->second.seconds) {
        from = 0;
      } else if (from == 0) {
        from = length;
      }
    }
    return from > 0 ? fmt::format("{}", from) : "-";
  }

  BenchMixersOptions options_;
  Context context_{1, 1, MemoryBudget(options_.memory)};
  std::vector<Kind> kinds_;
};

// Training speed of the whole engine model with each phi of Table 1, beside the Softplus kernel.
void bench_phis(const BenchMixersOptions& options) {
  constexpr const char* kRows[] = {"linear-kernel", "orth-linear", "1xglu",  "2xglu",
                                   "3xglu",         "1xoglu",      "2xoglu", "3xaoglu"};
  constexpr int64_t kLength = 4096;
  Context context(0, 1, MemoryBudget(options.memory));
  Random random(7);
  std::vector<Example> examples(static_cast<size_t>(context.threads()));
  std::vector<const Example*> batch;
  for (Example& e : examples) {
    for (int64_t t = 0; t < kLength; ++t)
      e.tokens.push_back(static_cast<int32_t>(random.below(256)));
    batch.push_back(&e);
  }
  std::vector<double> rates(std::size(kRows));
  for (int round = 0; round < options.rounds; ++round) {
    for (size_t i = 0; i < std::size(kRows); ++i) {
      ModelConfig config = engine_config("kernel", kLength);
      apply_row(kRows[i], config);
      const Model model(config);
      Trainer trainer(context, model, Parameters::initial(model, 1), {.optimizer = {.lr = 1e-6}});
      const auto step = [&] {
        trainer.accumulate(batch);
        trainer.update();
      };
      step();
      const double tokens = static_cast<double>(kLength) * static_cast<double>(batch.size());
      rates[i] = std::max(rates[i], repeat(1.0, tokens, step));
    }
  }
  std::vector<std::vector<std::string>> table = {{"row", "training tokens/s", "of linear-kernel"}};
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if (options.json) {
      write_json(Json{{"row", kRows[i]},
                      {"train_tokens_per_s", rates[i]},
                      {"of_linear_kernel", rates[i] / rates[0]}});
    }
    table.push_back({kRows[i], with_commas(static_cast<int64_t>(rates[i])),
                     fmt::format("{:.2f}", rates[i] / rates[0])});
  }
  if (!options.json) {
    print_out("\nWhole model, C=256, 4 blocks, T={}, {} threads\n", kLength, context.threads());
    write_out(format_table(table));
  }
}

}  // namespace

void bench_mixers(const BenchMixersOptions& options) {
  for (const std::string& name : options.mixers) find_mixer(name);
  MixersBench bench(options);
  bench.run();
  options.json ? bench.print_growth() : bench.print();
  if (options.mixers.empty()) bench_phis(options);
}

}  // namespace linnet
