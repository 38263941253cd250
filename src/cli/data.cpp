// data.cpp -- linnet data: what is in a file, generated data, foreign layouts to common ones.
#include "cli/data.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/streams.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "data/formats.h"

namespace linnet {
namespace {

void print_formats(bool json) {
  std::vector<std::vector<std::string>> table = {{"format", "a record", "what"}};
  for (const Format* f : formats()) {
    if (json) {
      write_json(nlohmann::ordered_json{{"name", f->name},
                                        {"layout", f->layout},
                                        {"summary", f->summary},
                                        {"files", f->takes_files},
                                        {"folders", f->takes_folders},
                                        {"pixels", f->pixels}});
    }
    table.push_back({std::string(f->name), std::string(f->layout), std::string(f->summary)});
  }
  if (!json) write_out(format_table(table));
}

void add_formats(CLI::App& data) {
  auto json = std::make_shared<bool>(false);
  CLI::App* verb = data.add_subcommand("formats", "Every layout of data that linnet reads");
  verb->footer("Example:\n  linnet data formats");
  verb->add_flag("--json", *json, "One JSON object a format");
  verb->callback([=] { print_formats(*json); });
}

}  // namespace

void add_data(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("data", "Looks at data, makes it, converts it");
  verb->footer(
      "Examples:\n  linnet data inspect train.csv --test test.csv\n  linnet data make listops "
      "--split --out listops\n  linnet data convert aclImdb_v1.tar.gz --split test --out test.csv");
  verb->require_subcommand(1);
  add_data_inspect(*verb);
  add_formats(*verb);
  add_data_make(*verb);
  add_data_convert(*verb);
  add_data_ladder(*verb);
}

}  // namespace linnet
