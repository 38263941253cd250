// bench_text.h -- a model and its rivals on one file of labelled texts.
#pragma once

#include <CLI/CLI.hpp>

namespace linnet {

// Adds the subcommand `text`.
void add_bench_text(CLI::App& bench);

}  // namespace linnet
