// data.h -- the parts of `linnet data`, one file each.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "data/listops.h"

namespace linnet {

void add_data_inspect(CLI::App& data);
void add_data_make(CLI::App& data);
void add_data_make_pathfinder(CLI::App& make);
void add_data_convert(CLI::App& data);

// LRA's three files, with 96, 2 and 2% of the rows, in a folder that is made.
void write_listops_splits(const std::string& folder, const ListopsRule& rule, uint64_t seed,
                          int64_t rows);

}  // namespace linnet
