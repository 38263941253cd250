// bench_engine.cpp -- the measurements of `linnet bench engine`.
//
// Rules: results are compared before anything is timed; rivals take turns; the peak of fused
// multiply-adds on all cores is taken before and after each measurement, which is repeated while
// the machine is disturbed (measure.h); a speed is the best of the rounds, a ratio best against
// best, with medians beside them; a fraction is the median over the rounds of rate over the mean of
// the two peaks around it.
#include "cli/bench_engine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "cli/interrupt.h"
#include "cli/measure.h"
#include "cli/memory.h"
#include "cli/peer.h"
#include "cli/streams.h"
#include "cli/terminal.h"
#include "core/error.h"
#include "core/file.h"
#include "core/folder.h"
#include "core/random.h"
#include "models/inference.h"
#include "models/model_folder.h"
#include "models/safetensors.h"
#include "train/run_memory.h"

namespace linnet {

ModelConfig engine_config(const std::string& mixer, int64_t length) {
  ModelConfig config;
  config.width = 256;
  config.heads = 4;
  config.blocks = 4;
  config.hidden = 1024;
  config.head_units = 1024;
  config.length = length;
  config.mixer = mixer;
  config.pool = "mean";  // every row of every block is used: the same work for all contenders
  config.dropout = 0;
  return config;
}

namespace {

constexpr int64_t kBatch = 8, kLength = 4096;

std::vector<Example> random_examples(int64_t count, int64_t length) {
  std::vector<Example> examples(static_cast<size_t>(count));
  Random random(7);
  for (Example& e : examples) {
    for (int64_t t = 0; t < length; ++t)
      e.tokens.push_back(static_cast<int32_t>(random.below(256)));
    e.label = static_cast<int>(random.below(2));
  }
  return examples;
}

std::vector<Tokens> sequences_of(const std::vector<Example>& examples) {
  std::vector<Tokens> sequences;
  for (const Example& e : examples) sequences.emplace_back(e.tokens);
  return sequences;
}

// Never one of the current folder, which may be anybody's.
std::filesystem::path pytorch_script() {
  const char* root = std::getenv("LINNET_ROOT");
  if (root == nullptr || *root == '\0')
    throw Error("[--against] LINNET_ROOT is not set: run ./linnet in the source folder");
  const auto script = std::filesystem::path(root) / "bench" / "peers" / "pytorch_engine.py";
  if (!std::filesystem::exists(script))
    throw Error(fmt::format("[--against] {} not found: run ./linnet in the source folder",
                            place_of(script)));
  return script;
}

// A temporary folder with the model and the batch, for rivals.
class Handover {
 public:
  Handover(const Model& model, const float* values, const std::vector<Example>& examples) {
    save_model(folder_.path(), model, values, "");
    std::vector<float> tokens, lengths, labels;
    for (const Example& e : examples) {
      tokens.insert(tokens.end(), e.tokens.begin(), e.tokens.end());
      lengths.push_back(static_cast<float>(e.tokens.size()));
      labels.push_back(static_cast<float>(e.label));
    }
    const auto size = [](const std::vector<float>& v) {
      return std::vector<int64_t>{static_cast<int64_t>(v.size())};
    };
    const Tensor tensors[] = {{"tokens", size(tokens), tokens.data()},
                              {"lengths", size(lengths), lengths.data()},
                              {"labels", size(labels), labels.data()}};
    write_safetensors(folder_.path() / "tokens.safetensors", tensors, {});
  }

  std::vector<std::string> pytorch(const std::string& mode, bool tuned) const {
    std::vector<std::string> command = {
        "/usr/bin/python3", pytorch_script().string(),
        "--model",          folder_.path().string(),
        "--tokens",         (folder_.path() / "tokens.safetensors").string(),
        "--mode",           mode,
        "--batch",          std::to_string(kBatch)};
    if (tuned) command.insert(command.end(), {"--processes", "2"});
    return command;
  }

 private:
  TemporaryFolder folder_;
};

// An Error unless the rival's logits are ours.
void compare_logits(const std::string& who, const std::vector<float>& ours,
                    const nlohmann::json& greeting) {
  double worst = 0, largest = 0;
  size_t i = 0;
  for (const auto& row : greeting.at("logits")) {
    for (const auto& value : row) {
      if (i >= ours.size()) throw Error(fmt::format("[bench] {} has more logits than linnet", who));
      worst = std::max(worst, std::abs(value.get<double>() - ours[i]));
      largest = std::max(largest, std::abs(static_cast<double>(ours[i])));
      ++i;
    }
  }
  if (i != ours.size() || !(worst <= 1e-4 * largest)) {
    throw Error(fmt::format("[bench] the logits of {} differ by {:.2g}: nothing was timed", who,
                            worst / largest));
  }
}

class EngineBench {
 public:
  EngineBench(const BenchOptions& options, const std::function<void(const Figure&)>& report)
      : options_(options), report_(report), gate_(context_) {}

  void run() {
    if (options_.pytorch) pytorch_script();
    gate_.peak();
    const Model model(engine_config("kernel", kLength));
    const std::vector<Example> examples = random_examples(kBatch, kLength);
    context_.memory().check("to train", training_need(model, {}, context_.threads(), kLength));
    bench_mode(model, examples, "infer");
    bench_mode(model, examples, "train");
    bench_memory();
    bench_softmax(4096);
    if (!options_.brief) {
      bench_softmax(16384);
      bench_long();
    }
    report_({"fma_peak_gflops", gate_.best_peak() * 1e-9, "GFLOP/s"});
  }

 private:
  void note(const std::string& text) const {
    if (isatty(2)) print_note("\r{}\x1b[K\r", text);
  }

  static Block copy_of(const Block& values) {
    Block copy(values.size());
    std::copy_n(values.data(), values.size(), copy.data());
    return copy;
  }

  // infer_* or train_*: tokens a second, fraction of the peak, ratios to the rivals.
  void bench_mode(const Model& model, const std::vector<Example>& examples,
                  const std::string& mode) {
    const Block values = Parameters::initial(model, 1);
    const std::vector<Tokens> sequences = sequences_of(examples);
    std::vector<const Example*> batch;
    for (const Example& e : examples) batch.push_back(&e);
    Inference inference(context_, model, copy_of(values));
    const std::vector<float> logits = inference.logits(sequences);
    std::optional<Trainer> trainer;
    if (mode == "train") {
      trainer.emplace(context_, model, copy_of(values), TrainConfig{.optimizer = {.lr = 1e-6}});
      trainer->accumulate(batch);
      trainer->update();
    }
    const auto step = [&] {
      if (!trainer) return static_cast<void>(inference.logits(sequences));
      trainer->accumulate(batch);
      trainer->update();
    };
    std::vector<std::unique_ptr<Peer>> rivals;
    if (options_.pytorch) rivals = start_pytorch(model, values, examples, mode, logits);
    take_turns(model, mode, step, rivals);
  }

  // As it is, and tuned. They have read the model and the batch when they greet.
  std::vector<std::unique_ptr<Peer>> start_pytorch(const Model& model, const Block& values,
                                                   const std::vector<Example>& examples,
                                                   const std::string& mode,
                                                   const std::vector<float>& logits) {
    stop_on_signals();  // the folder has to be removed
    std::vector<std::unique_ptr<Peer>> rivals;
    {
      const Handover handover(model, values.data(), examples);
      for (bool tuned : {false, true}) {
        note("starting PyTorch...");
        rivals.push_back(std::make_unique<Peer>(handover.pytorch(mode, tuned)));
        compare_logits("PyTorch", logits, rivals.back()->greeting());
      }
    }
    end_on_signals();
    return rivals;
  }

  void take_turns(const Model& model, const std::string& mode, const std::function<void()>& step,
                  std::vector<std::unique_ptr<Peer>>& rivals) {
    const double tokens = static_cast<double>(kBatch * kLength);
    const double flops = model.forward_flops(kLength, mode == "infer") /
                         static_cast<double>(kLength) * (mode == "infer" ? 1 : 3);
    std::vector<double> rates, fractions;
    std::vector<std::vector<double>> others(rivals.size());
    for (int round = 0; round < options_.rounds; ++round) {
      note(fmt::format("{}, round {} of {}...", mode, round + 1, options_.rounds));
      const Gate::Measured own =
          gate_.measure([&] { return repeat(options_.seconds, tokens, step); });
      rates.push_back(own.rate);
      fractions.push_back(own.rate * flops / own.peak);
      for (size_t i = 0; i < rivals.size(); ++i) {
        others[i].push_back(gate_
                                .measure([&] {
                                  const nlohmann::json answer =
                                      rivals[i]->ask(fmt::format("run {}", options_.seconds));
                                  if (mode == "train" && i == 0)
                                    pytorch_memory_ = answer.at("rss_peak_kb").get<double>() * 1024;
                                  return answer.at("tokens").get<double>() /
                                         answer.at("seconds").get<double>();
                                })
                                .rate);
      }
    }
    report_({mode + "_tokens_per_s", best(rates), "tokens/s"});
    report_({mode + "_tokens_per_s_median", median(rates), "tokens/s"});
    report_({mode + "_peak_fraction", median(fractions), ""});
    report_({mode + "_best_of_best_peak", best(rates) * flops / gate_.best_peak(), ""});
    for (size_t i = 0; i < rivals.size(); ++i) {
      const std::string name = i == 0 ? "pytorch" : "pytorch_tuned";
      report_({mode + "_tokens_per_s_" + name, best(others[i]), "tokens/s"});
      report_({mode + "_vs_" + name, best(rates) / best(others[i]), "x"});
      report_({mode + "_vs_" + name + "_median", median(rates) / median(others[i]), "x"});
    }
  }

  // Peak memory of whole processes, B = 8.
  void bench_memory() {
    for (const char* kind : {"store", "recompute"}) {
      note(fmt::format("memory in training, {}...", kind));
      const Peer child({"/proc/self/exe", "bench", "engine", "--memory-child", kind});
      const double bytes = child.greeting().at("bytes").get<double>();
      const std::string name = std::string("train_rss") + (kind[0] == 'r' ? "_recompute" : "");
      report_({name, bytes * 1e-6, "MB"});
      if (pytorch_memory_ > 0) report_({name + "_vs_pytorch", bytes / pytorch_memory_, ""});
    }
    if (pytorch_memory_ > 0) report_({"train_rss_pytorch", pytorch_memory_ * 1e-6, "MB"});
  }

  void bench_softmax(int64_t length) {
    const Model kernel(engine_config("kernel", length)), softmax(engine_config("softmax", length));
    const std::vector<Example> examples = random_examples(context_.threads(), length);
    const std::vector<Tokens> sequences = sequences_of(examples);
    Inference fast(context_, kernel, Parameters::initial(kernel, 1)),
        exact(context_, softmax, Parameters::initial(softmax, 1));
    const double tokens = static_cast<double>(length * context_.threads());
    std::vector<double> ours, theirs, fractions;
    // Long sequences take long themselves.
    const int rounds = length > 4096 ? std::min(2, options_.rounds) : options_.rounds;
    fast.logits(sequences);
    const double flops = softmax.forward_flops(length, true) / static_cast<double>(length);
    for (int round = 0; round < rounds; ++round) {
      note(fmt::format("kernel and softmax at T={}, round {} of {}...", length, round + 1, rounds));
      const auto timed = [&](Inference& inference) {
        return gate_.measure(
            [&] { return repeat(options_.seconds, tokens, [&] { inference.logits(sequences); }); },
            2);
      };
      ours.push_back(timed(fast).rate);
      const Gate::Measured quadratic = timed(exact);
      theirs.push_back(quadratic.rate);
      fractions.push_back(quadratic.rate * flops / quadratic.peak);
    }
    report_({fmt::format("kernel_vs_softmax_{}", length), best(ours) / best(theirs), "x"});
    report_({fmt::format("softmax_peak_fraction_{}", length), median(fractions), ""});
  }

  // One sequence of 1 Mi tokens: time a token against 1 Ki on one thread; on all threads the same
  // logits.
  void bench_long() {
    constexpr int64_t kShort = 1 << 10, kLong = 1 << 20;
    ModelConfig config = engine_config("kernel", kLong);
    config.positions = "none";
    const Model model(config);
    const Block values = Parameters::initial(model, 1);
    const std::vector<Example> small = random_examples(1, kShort),
                               large = random_examples(1, kLong);
    std::vector<float> one_thread, all_threads;
    {
      Context single(1);
      Inference inference(single, model, copy_of(values));
      const auto brief = [&] {
        return gate_
            .measure([&] {
              return repeat(options_.seconds, kShort,
                            [&] { inference.logits(sequences_of(small)); });
            })
            .rate;
      };
      note("1 Ki tokens on one thread...");
      std::vector<double> rates = {brief()};
      note("1 Mi tokens on one thread...");
      const auto whole = [&] { one_thread = inference.logits(sequences_of(large)); };
      const double rate = gate_.measure([&] { return repeat(0, kLong, whole); }, 2).rate;
      rates.push_back(brief());
      report_({"token_cost_growth", 0.5 * (rates[0] + rates[1]) / rate, "x"});
    }
    reset_peak_memory();
    note("1 Mi tokens on all threads...");
    Inference inference(context_, model, copy_of(values));
    const auto whole = [&] { all_threads = inference.logits(sequences_of(large)); };
    const double rate = gate_.measure([&] { return repeat(0, kLong, whole); }, 2).rate;
    report_({"long_tokens_per_s", rate, "tokens/s"});
    report_({"long_memory", static_cast<double>(peak_memory()) * 1e-6, "MB"});
    double worst = 0;
    for (size_t i = 0; i < one_thread.size(); ++i)
      worst = std::max<double>(worst, std::abs(one_thread[i] - all_threads[i]));
    report_({"long_logits_difference", worst, ""});
  }

  BenchOptions options_;
  const std::function<void(const Figure&)>& report_;
  Context context_{0, 1, MemoryBudget(options_.memory)};
  Gate gate_;
  double pytorch_memory_ = 0;
};

}  // namespace

void bench_engine(const BenchOptions& options, const std::function<void(const Figure&)>& report) {
  EngineBench(options, report).run();
}

void bench_memory_child(bool recompute) {
  Context context;
  const Model model(engine_config("kernel", kLength));
  const std::vector<Example> examples = random_examples(kBatch, kLength);
  std::vector<const Example*> batch;
  for (const Example& e : examples) batch.push_back(&e);
  Trainer trainer(context, model, Parameters::initial(model, 1),
                  {.optimizer = {.lr = 1e-6}, .recompute = recompute});
  for (int step = 0; step < 2; ++step) {
    trainer.accumulate(batch);
    trainer.update();
  }
  print_out("{{\"bytes\": {}}}\n", peak_memory());
}

}  // namespace linnet
