// verbs.h -- the verbs of the command line: one file each, one line in main.cpp.
#pragma once

#include <CLI/CLI.hpp>

namespace linnet {

// Each adds its subcommand, with help and callback.
void add_quickstart(CLI::App& app);
void add_list(CLI::App& app);
void add_train(CLI::App& app);
void add_eval(CLI::App& app);
void add_predict(CLI::App& app);
void add_arena(CLI::App& app);
void add_info(CLI::App& app);
void add_tokenizer(CLI::App& app);
void add_data(CLI::App& app);
void add_bench(CLI::App& app);
void add_report(CLI::App& app);
void add_oracle(CLI::App& app);

}  // namespace linnet
