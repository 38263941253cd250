// data_make_pathfinder.cpp -- linnet data make pathfinder: images and labels in the binary form of
// CIFAR-10, grey: a record is one byte of label and size * size pixels.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/data.h"
#include "cli/output_file.h"
#include "cli/streams.h"
#include "cli/terminal.h"
#include "core/context.h"
#include "core/error.h"
#include "data/pathfinder.h"

namespace linnet {
namespace {

struct Options {
  int64_t rows = 0;
  int size = 32, dashes = 14, threads = 0;
  uint64_t seed = 1;
  std::optional<int> distractors;
  std::optional<double> contrast;
  std::string out;
  bool json = false;
};

void run(const Options& options) {
  PathfinderRule rule = pathfinder_rule(options.size, options.dashes);
  if (options.distractors) rule.distractors = *options.distractors;
  if (options.contrast) rule.contrast = *options.contrast;
  OutputFile file(options.out);
  const Clock::time_point start = Clock::now();
  const auto record = static_cast<size_t>(1 + rule.size * rule.size);
  std::vector<uint8_t> bytes(record * static_cast<size_t>(options.rows));
  Context context(options.threads);
  {
    Progress progress("pathfinder");
    constexpr int64_t kBatch = 1024;  // between two looks at the progress bar
    for (int64_t done = 0; done < options.rows; done += kBatch) {
      context.parallel(std::min(kBatch, options.rows - done), [&](int64_t task, int) {
        const int64_t row = done + task;
        const PathfinderScene scene = pathfinder_scene(rule, options.seed, row);
        const std::span<uint8_t> image =
            std::span(bytes).subspan(record * static_cast<size_t>(row), record);
        image[0] = static_cast<uint8_t>(scene.label);
        draw_pathfinder(rule, scene, image.subspan(1));
      });
      const int64_t now = std::min(done + kBatch, options.rows);
      progress.show(static_cast<double>(now) / static_cast<double>(options.rows),
                    with_commas(now) + " images");
    }
  }
  file.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  file.close();
  const double seconds = seconds_since(start);
  if (options.json) {
    nlohmann::ordered_json json = {{"rows", options.rows},
                                   {"size", rule.size},
                                   {"record_bytes", record},
                                   {"seconds", seconds},
                                   {"file", options.out}};
    write_json(json);
  } else {
    print_out("pathfinder: {} images of {} x {} in {:.1f} s to {}\n", with_commas(options.rows),
              rule.size, rule.size, seconds, options.out);
  }
}

}  // namespace

void add_data_make_pathfinder(CLI::App& make) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = make.add_subcommand("pathfinder", "Two dots: on one dashed path, or not");
  verb->footer(
      "Example:\n  linnet data make pathfinder --rows 160000 --size 32 --seed 1 --out train.bin");
  // 4 GB: all images are in memory until they are written.
  verb->add_option("--rows", options->rows, "Images, half of them of each label")
      ->required()
      ->check(CLI::Range(int64_t{1}, int64_t{250'000}));
  verb->add_option("--size", options->size, "32 (Pathfinder32), 64 or 128 (Path-X)")
      ->capture_default_str();
  verb->add_option("--dashes", options->dashes, "Of a path: 6 easy, 9 middle, 14 hard and LRA")
      ->capture_default_str();
  verb->add_option("--distractors", options->distractors,
                   "Distracting paths; LRA's number if not given");
  verb->add_option("--contrast", options->contrast, "Of the dashes, 1 = white; LRA's if not given");
  verb->add_option("--seed", options->seed, "Another seed, other images")->capture_default_str();
  verb->add_option("--threads", options->threads, "0: one a core")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  verb->add_option("--out", options->out, "File to write")->required();
  verb->add_flag("--json", options->json, "The result as one JSON object");
  verb->callback([=] { run(*options); });
}

}  // namespace linnet
