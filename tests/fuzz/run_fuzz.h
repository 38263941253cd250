// run_fuzz.h -- a small run in a folder of its own, for the fuzzers of the files that it reads
// again.
#pragma once

#include <fstream>
#include <string_view>

#include "core/file.h"
#include "core/folder.h"
#include "tests/fuzz/reader_fuzz.h"
#include "train/run.h"

namespace linnet {

struct SmallRun {
  TemporaryFolder root;
  std::filesystem::path folder = root.path() / "run";
  Context context{1};
  PreparedTask prepared;
  ModelConfig config;
  RunSettings settings;

  SmallRun() {
    std::filesystem::create_directories(folder);
    const std::string data = (root.path() / "train.csv").string(),
                      validation = (root.path() / "validation.csv").string();
    for (const std::string& path : {data, validation}) {
      std::ofstream file(path);
      file << "text,label\n";
      const char* word = path == data ? "text " : "kept ";
      for (int i = 0; i < 24; ++i) file << word << i << ',' << i % 2 << '\n';
    }
    prepared = prepare({.data = data, .validation = validation, .tokenizer = "bytes"}, 1,
                       [](const std::string&, double) {});
    config.width = config.hidden = config.head_units = 4;
    config.heads = config.blocks = 1;
    fit_model(prepared, false, config);
    settings.batch = 4;
    settings.steps = 8;
    settings.window = 100;  // the data does not fit
    settings.evaluations = 4;
    settings.checkpoint_every = 1000;
  }
  // Without a sync: the disk would be the slowest part.
  void write(const char* name, std::string_view content) const {
    std::ofstream(folder / name, std::ios::binary) << content;
  }
  std::string read(const char* name) const { return read_file(folder / name, size_t{1} << 24); }
};

}  // namespace linnet
