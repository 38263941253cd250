// bench.cpp -- linnet bench: what it measures, and how it prints it.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/bench_engine.h"
#include "cli/bench_mixers.h"
#include "cli/bench_polynomial.h"
#include "cli/bench_text.h"
#include "cli/memory_flag.h"
#include "cli/streams.h"
#include "cli/verbs.h"
#include "core/error.h"

namespace linnet {
namespace {

void print_figure(const BenchOptions& options, const Figure& figure) {
  if (options.json) {
    write_json(nlohmann::ordered_json{
        {"figure", figure.name}, {"value", figure.value}, {"unit", figure.unit}});
  } else {
    print_out("{:<34} {:>12} {}\n", figure.name,
              figure.value >= 1000 ? fmt::format("{:.0f}", figure.value)
                                   : fmt::format("{:.4g}", figure.value),
              figure.unit);
  }
  flush_out();
}

void add_mixers(CLI::App& bench) {
  auto options = std::make_shared<BenchMixersOptions>();
  CLI::App* verb = bench.add_subcommand(
      "mixers", "Every token mixer at T = 256 ... 65,536, forward and training, beside softmax");
  verb->footer(
      "Examples:\n  linnet bench mixers\n  linnet bench mixers --mixer kernel --mixer softmax "
      "--longest 16384 --json");
  verb->add_option("--mixer", options->mixers, "Only this kind; may be given several times");
  verb->add_option("--longest", options->longest, "Longest sequence")
      ->check(CLI::Range(int64_t{256}, int64_t{1} << 24))
      ->capture_default_str();
  verb->add_option("--limit", options->limit,
                   "Seconds: a kind stops where its next length would take longer")
      ->check(CLI::Range(0.001, 3600.0))
      ->capture_default_str();
  verb->add_option("--rounds", options->rounds, "Measurements of each, taking turns")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  add_memory_flag(*verb, options->memory);
  verb->add_flag("--json", options->json, "One JSON object a measurement");
  verb->callback([options] { bench_mixers(*options); });
}

void add_polynomial(CLI::App& bench) {
  auto options = std::make_shared<BenchPolynomialOptions>();
  CLI::App* verb = bench.add_subcommand(
      "polynomial", "What each layer can fit: forms of degree 1, 2 and 3 of marked tokens");
  verb->footer("Example:\n  linnet bench polynomial --seeds 3 --steps 1500");
  verb->add_option("--seeds", options->seeds, "Tasks and initial values")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  verb->add_option("--steps", options->steps, "Training steps of each model")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 30))
      ->capture_default_str();
  verb->add_option("--layer", options->layers,
                   "Only these of the table, e.g. relu2 or 'relu2, phi'")
      ->check(CLI::IsMember(polynomial_layers()).description(""));  // the help would be a page
  verb->add_flag("--json", options->json, "One JSON object a run");
  verb->callback([options] { bench_polynomial(*options); });
}

}  // namespace

void add_bench(CLI::App& app) {
  auto options = std::make_shared<BenchOptions>();
  auto against = std::make_shared<std::string>();
  auto child = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("bench", "Speed and memory, alone or beside a rival");
  verb->require_subcommand(1);
  verb->footer("Examples:\n  linnet bench text --data reviews.csv\n  linnet bench engine");
  add_mixers(*verb);
  add_polynomial(*verb);
  add_bench_text(*verb);
  CLI::App* engine = verb->add_subcommand(
      "engine", "The engine against this machine's limit: C=256, 4 heads, 4 blocks, T=4096");
  engine->footer(
      "Examples:\n  linnet bench engine\n  linnet bench engine --against pytorch --json");
  engine->add_option("--against", *against, "A rival in the same run: pytorch")
      ->check(CLI::IsMember({"pytorch"}));
  engine->add_option("--seconds", options->seconds, "Seconds of one measurement")
      ->check(CLI::Range(0.05, 600.0))
      ->capture_default_str();
  engine->add_option("--rounds", options->rounds, "Measurements of each, taking turns")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  add_memory_flag(*engine, options->memory);
  engine->add_flag("--brief", options->brief,
                   "Leave out one sequence of 1 Mi tokens and softmax at T=16384");
  engine->add_flag("--json", options->json, "One JSON object a figure");
  engine->add_option("--memory-child", *child)->group("");
  engine->callback([=] {
    if (!child->empty()) return bench_memory_child(*child == "recompute");
    options->pytorch = *against == "pytorch";
    bench_engine(*options, [&](const Figure& figure) { print_figure(*options, figure); });
  });
}

}  // namespace linnet
