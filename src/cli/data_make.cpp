// data_make.cpp -- linnet data make: generated tasks, as files.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "cli/data.h"
#include "cli/output_file.h"
#include "cli/streams.h"
#include "cli/terminal.h"
#include "core/error.h"
#include "core/folder.h"
#include "data/listops.h"
#include "data/polynomial.h"

namespace linnet {
namespace {

struct ListopsOptions {
  ListopsRule rule;
  int64_t rows = 100'000;
  int64_t test = 0;
  uint64_t seed = 1;
  std::string out;
  bool split = false;
};

// LRA's own form: a header, CRLF as Python's csv writes it, parentheses.
void write_listops(OutputFile& file, const std::string& path,
                   const std::vector<ListopsExample>& rows) {
  file.write("Source\tTarget\r\n");
  for (const ListopsExample& row : rows)
    file.write(fmt::format("{}\t{}\r\n", listops_text(row.tokens), row.label));
  file.close();
  print_note("{}: {} rows\n", path, with_commas(static_cast<int64_t>(rows.size())));
}

void make_listops_files(const ListopsOptions& options) {
  if (options.test > 0 && !options.split) throw Error("[--test] is for --split");
  if (options.split) {
    const int64_t held = options.rows / 50;
    write_listops_splits(options.out, options.rule, options.seed, options.rows - 2 * held, held,
                         options.test > 0 ? options.test : held);
  } else {
    OutputFile file(options.out);
    write_listops(file, options.out, make_listops(options.rule, options.seed, options.rows));
  }
}

void add_listops(CLI::App& make) {
  auto options = std::make_shared<ListopsOptions>();
  CLI::App* verb = make.add_subcommand("listops", "Nested MIN, MAX, MED, SM by the rule of LRA");
  verb->footer(
      "Examples:\n  linnet data make listops --split --out listops\n  linnet data make listops "
      "--rows 1000 --seed 7 --out sample.tsv");
  ListopsRule& rule = options->rule;
  verb->add_option("--rows", options->rows, "Distinct trees")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->capture_default_str();
  verb->add_option("--seed", options->seed, "The same seed gives the same rows")
      ->capture_default_str();
  verb->add_option("--out", options->out, "The file; with --split the folder; - for the terminal")
      ->required();
  verb->add_flag("--split", options->split,
                 "basic_train.tsv, basic_val.tsv, basic_test.tsv with 96, 2 and 2% of the rows");
  verb->add_option("--test", options->test,
                   "With --split, so many rows for test instead of 2%; the others stay as they are")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40));
  verb->add_option("--max-depth", rule.max_depth, "Nesting")->capture_default_str();
  verb->add_option("--max-args", rule.max_args, "Arguments of an operator")->capture_default_str();
  verb->add_option("--min-tokens", rule.min_tokens, "A tree has more")->capture_default_str();
  verb->add_option("--max-tokens", rule.max_tokens, "A tree has fewer")->capture_default_str();
  verb->callback([=] { make_listops_files(*options); });
}

struct PolynomialOptions {
  PolynomialRule rule;
  int64_t rows = 20'000;
  uint64_t seed = 1;
  std::string out;
};

void make_polynomial_file(const PolynomialOptions& options) {
  OutputFile file(options.out);
  const auto rows = make_polynomial(options.rule, options.seed, options.rows);
  file.write("text\tlabel\n");
  for (const PolynomialExample& row : rows)
    file.write(fmt::format("{}\t{}\n", fmt::join(row.tokens, " "), row.label));
  file.close();
  print_note("{}: {} rows, {} words\n", options.out, with_commas(options.rows),
             polynomial_vocabulary(options.rule));
}

void add_polynomial(CLI::App& make) {
  auto options = std::make_shared<PolynomialOptions>();
  CLI::App* verb = make.add_subcommand(
      "polynomial", "The sign of a form of a known degree in marked tokens, which are numbers");
  verb->footer("Example:\n  linnet data make polynomial --degree 3 --rows 20000 --out cubic.tsv");
  PolynomialRule& rule = options->rule;
  verb->add_option("--rows", options->rows, "Sequences")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 32))
      ->capture_default_str();
  verb->add_option("--seed", options->seed, "Of the form and the rows")->capture_default_str();
  verb->add_option("--out", options->out, "The file; - for the terminal")->required();
  verb->add_option("--degree", rule.degree, "Of the form")->capture_default_str();
  verb->add_option("--marks", rule.marks, "Marked tokens")->capture_default_str();
  verb->add_option("--levels", rule.levels, "Values of a token")->capture_default_str();
  verb->add_option("--length", rule.length, "Tokens of a sequence")->capture_default_str();
  verb->callback([=] { make_polynomial_file(*options); });
}

}  // namespace

void write_listops_splits(const std::string& folder, const ListopsRule& rule, uint64_t seed,
                          int64_t train_rows, int64_t val_rows, int64_t test_rows) {
  constexpr std::string_view kFiles[] = {"basic_train.tsv", "basic_val.tsv", "basic_test.tsv"};
  make_own_folder(folder);
  const std::filesystem::path old = first_of(folder, kFiles);
  if (!old.empty() && !is_own_folder(folder)) refuse_foreign(old);
  const auto path = [&](size_t i) { return (std::filesystem::path(folder) / kFiles[i]).string(); };
  OutputFile train(path(0)), val(path(1)), test(path(2));
  const ListopsSplits splits = make_listops_splits(rule, seed, train_rows, val_rows, test_rows);
  write_listops(train, path(0), splits.train);
  write_listops(val, path(1), splits.val);
  write_listops(test, path(2), splits.test);
}

void add_data_make(CLI::App& data) {
  CLI::App* verb =
      data.add_subcommand("make", "Generates a task: listops, pathfinder or polynomial");
  verb->require_subcommand(1);
  add_listops(*verb);
  add_data_make_pathfinder(*verb);
  add_polynomial(*verb);
}

}  // namespace linnet
