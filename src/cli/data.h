// data.h -- the parts of `linnet data`, one file each.
#pragma once

#include <CLI/CLI.hpp>

namespace linnet {

void add_data_inspect(CLI::App& data);
void add_data_make(CLI::App& data);
void add_data_make_pathfinder(CLI::App& make);
void add_data_convert(CLI::App& data);

}  // namespace linnet
