// data_ladder.cpp -- linnet data ladder: how far a part of each ListOps tree gets.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/data.h"
#include "cli/data_flags.h"
#include "cli/streams.h"
#include "cli/terminal.h"
#include "core/error.h"
#include "core/file.h"
#include "data/listops_ladder.h"

namespace linnet {
namespace {

struct Options {
  std::string path;
  int64_t rows = kLadderTrees;
  uint64_t seed = 1;
  int threads = 0;
  bool json = false;
};

void run(const Options& options, const ReadOptions& read) {
  const std::vector<ListopsExample> trees = options.path.empty()
                                                ? make_listops({}, options.seed, options.rows)
                                                : read_listops(options.path, read, options.rows);
  Context context(options.threads);
  const std::vector<LadderRung> rungs = listops_ladder(context, trees, options.seed);
  if (options.json) {
    nlohmann::ordered_json json = {{"data", options.path}, {"trees", trees.size()}};
    if (options.path.empty()) json["seed"] = options.seed;
    for (const LadderRung& rung : rungs)
      json["rungs"].push_back(
          {{"knows", rung.knows}, {"accuracy", rung.accuracy}, {"loss", rung.loss}});
    write_json(json);
    return;
  }
  std::vector<std::vector<std::string>> table = {{"who knows", "is right", "loss (nats)"}};
  for (const LadderRung& rung : rungs)
    table.push_back({std::string(rung.knows), fmt::format("{:.1f}%", 100 * rung.accuracy),
                     fmt::format("{:.3f}", rung.loss)});
  write_out(format_table(table));
  print_out("\n{} trees\n", with_commas(static_cast<int64_t>(trees.size())));
}

}  // namespace

std::vector<ListopsExample> read_listops(const std::string& path, const ReadOptions& read,
                                         int64_t rows) {
  OpenData data = open_data(path, read);
  std::vector<ListopsExample> trees;
  for (Record record; static_cast<int64_t>(trees.size()) < rows && data.reader->next(record);) {
    try {
      ListopsExample tree{parse_listops(record.text), 0};
      tree.label = evaluate_listops(tree.tokens);
      trees.push_back(std::move(tree));
    } catch (const Error& error) {
      throw Error(fmt::format("[{}] {}", place_of(record), error.what()));
    }
  }
  if (trees.empty()) throw Error(fmt::format("[{}] has no trees", place_of(path)));
  return trees;
}

void add_data_ladder(CLI::App& data) {
  auto options = std::make_shared<Options>();
  CLI::App* verb =
      data.add_subcommand("ladder", "What a ListOps score means: who knows the top of each tree");
  verb->footer("Examples:\n  linnet data ladder\n  linnet data ladder listops/basic_test.tsv");
  verb->add_option("data", options->path, "A file of trees; without it, new ones by LRA's rule");
  verb->add_option("--rows", options->rows, "Trees, at most")
      ->check(CLI::Range(int64_t{1}, int64_t{10'000'000}))
      ->capture_default_str();
  verb->add_option("--seed", options->seed, "Of new trees and of the samples")
      ->capture_default_str();
  verb->add_option("--threads", options->threads, "0: all cores")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  verb->add_flag("--json", options->json, "One JSON object");
  verb->callback([options, flags = DataFlags(*verb)] { run(*options, flags.options()); });
}

}  // namespace linnet
