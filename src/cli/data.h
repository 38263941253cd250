// data.h -- the parts of `linnet data`, one file each.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "data/formats.h"
#include "data/listops.h"

namespace linnet {

void add_data_inspect(CLI::App& data);
void add_data_make(CLI::App& data);
void add_data_make_pathfinder(CLI::App& make);
void add_data_convert(CLI::App& data);
void add_data_ladder(CLI::App& data);

// LRA's three files in a folder that is made; one that linnet did not make must not have them.
void write_listops_splits(const std::string& folder, const ListopsRule& rule, uint64_t seed,
                          int64_t train_rows, int64_t val_rows, int64_t test_rows);

// So many trees of a file, each evaluated; what is no tree is an Error with its place.
inline constexpr int64_t kLadderTrees = 10'000;
std::vector<ListopsExample> read_listops(const std::string& path, const ReadOptions& read,
                                         int64_t rows);

}  // namespace linnet
