// data.cpp -- linnet data: what is in a file, generated data, foreign layouts to common ones.
#include "cli/data.h"

#include "cli/verbs.h"

namespace linnet {

void add_data(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("data", "Looks at data, makes it, converts it");
  verb->footer(
      "Examples:\n  linnet data inspect train.csv --test test.csv\n  linnet data make listops "
      "--split --out listops\n  linnet data convert aclImdb_v1.tar.gz --split test --out test.csv");
  verb->require_subcommand(1);
  add_data_inspect(*verb);
  add_data_make(*verb);
  add_data_convert(*verb);
}

}  // namespace linnet
