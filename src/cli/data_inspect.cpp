// data_inspect.cpp -- linnet data inspect: what linnet finds in a file before it trains on it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/data.h"
#include "cli/data_flags.h"
#include "cli/streams.h"
#include "cli/terminal.h"
#include "core/file.h"
#include "data/summary.h"

namespace linnet {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string path, validation, test;
  bool json = false;
};

// A part of the data, its summary, and where it came from.
struct Part {
  std::string split, path;
  const Format* format;
  std::vector<Column> columns;
  DataSummary summary;
};

Part inspect(const std::string& path, const std::string& split, ReadOptions options) {
  options.split = split;
  OpenData data = open_data(path, options);
  Part part{split, data.path, data.format, data.reader->columns(), {}};
  Progress progress(split.empty() ? "reading" : "reading " + split);
  const auto show = [&](double done, int64_t records) {
    progress.show(std::max(done, 0.0), with_commas(records) + " records");
  };
  part.summary = summarize(*data.reader, data.format->pixels,
                           [&](int64_t records) { show(data.reader->done(), records); });
  show(1, part.summary.records);
  return part;
}

std::vector<Part> inspect_all(const Options& options, const ReadOptions& read) {
  std::vector<Part> parts;
  const std::vector<std::string> splits =
      read.split.empty() ? splits_of(options.path, read) : std::vector<std::string>();
  const bool others = !options.validation.empty() || !options.test.empty();
  for (const std::string& split : splits) parts.push_back(inspect(options.path, split, read));
  if (splits.empty()) {
    parts.push_back(inspect(options.path, read.split, read));
    if (others && parts[0].split.empty()) parts[0].split = "train";
  }
  for (const auto& [path, split] :
       {std::pair(options.validation, "validation"), std::pair(options.test, "test")}) {
    if (path.empty()) continue;
    // A folder is asked for this split, a file is taken as it is.
    const bool has_splits = !splits_of(path, read).empty();
    parts.push_back(inspect(path, has_splits ? split : "", read));
    parts.back().split = split;
  }
  return parts;
}

std::string column_text(const Part& part) {
  std::string text;
  for (size_t i = 0; i < part.columns.size(); ++i) {
    const Column& column = part.columns[i];
    text += fmt::format("{}{}{}{}", i ? ", " : "", i + 1,
                        column.name.empty() ? "" : " " + printable(column.name, 40),
                        column.role.empty() ? "" : " (" + column.role + ")");
  }
  return text;
}

std::string faults_text(const Faults& faults, std::string_view none) {
  if (faults.records == 0) return std::string(none);
  return fmt::format("{} records, the first at {}", with_commas(faults.records), faults.first);
}

void print_classes(const DataSummary& summary) {
  constexpr size_t kShown = 20;
  const auto counts = summary.labels.sorted();
  print_out("  classes    {}{}{}\n", summary.labels.overflow() ? "more than " : "",
            with_commas(static_cast<int64_t>(counts.size())),
            summary.labels.overflow() ? ": is it the right column?" : "");
  for (size_t i = 0; i < std::min(counts.size(), kShown); ++i) {
    const auto& [name, count] = counts[i];
    print_out("    {:<24} {:>11}  {:5.1f}%{}\n", printable(name, 24), with_commas(count),
              100.0 * static_cast<double>(count) / static_cast<double>(summary.records),
              count == 1 ? "  one example" : "");
  }
  if (counts.size() > kShown) print_out("    and {} more\n", counts.size() - kShown);
  const auto single =
      std::count_if(counts.begin(), counts.end(), [](const auto& c) { return c.second == 1; });
  if (single > 0) {
    print_out("  warning    {} with one example, which cannot be both trained and validated on\n",
              single == 1 ? "a class" : fmt::format("{} classes", single));
  }
  if (summary.unlabelled > 0 && !counts.empty())
    print_out("  unlabelled {} records\n", with_commas(summary.unlabelled));
  if (summary.multi_label > 0)
    print_out("  several    {} records have more than one label\n",
              with_commas(summary.multi_label));
}

// Bars over powers of two, from the shortest to the longest.
void print_histogram(const LengthCounts& lengths) {
  constexpr int kWidth = 40;
  int64_t most = 1;
  std::vector<std::tuple<int64_t, int64_t, int64_t>> bars;
  for (int64_t low = 0; low <= lengths.largest(); low = std::max<int64_t>(1, 2 * low)) {
    const int64_t high = low == 0 ? 0 : 2 * low - 1, count = lengths.between(low, high);
    if (high < lengths.smallest()) continue;
    bars.emplace_back(low, high, count);
    most = std::max(most, count);
  }
  for (const auto& [low, high, count] : bars) {
    const auto full = static_cast<size_t>(
        std::ceil(static_cast<double>(count) * kWidth / static_cast<double>(most)));
    print_out("    {:>11} - {:>11} |{:<{}}| {}\n", with_commas(low), with_commas(high),
              std::string(full, '#'), kWidth, with_commas(count));
  }
}

void print_lengths(std::string_view title, const LengthCounts& lengths) {
  print_out("  {:<10} min {}, median {}, mean {:.1f}, p90 {}, max {}; {} in all\n", title,
            with_commas(lengths.smallest()), with_commas(lengths.quantile(0.5)), lengths.mean(),
            with_commas(lengths.quantile(0.9)), with_commas(lengths.largest()),
            with_commas(lengths.total()));
  if (lengths.smallest() < lengths.largest()) print_histogram(lengths);
}

void print_part(const Part& part) {
  const DataSummary& s = part.summary;
  print_out("{}{} ({}: {})\n", part.split.empty() ? "" : part.split + ": ", place_of(part.path),
            part.format->name, part.format->summary);
  print_out("  records    {}\n", with_commas(s.records));
  if (!part.columns.empty()) print_out("  columns    {}\n", column_text(part));
  print_classes(s);
  print_lengths(part.format->pixels ? "pixels" : "bytes", s.text);
  if (s.second.records() > 0) print_lengths("second", s.second);
  if (!part.format->pixels) {
    print_out("  encoding   {}\n", s.invalid_utf8.records == 0
                                       ? "valid UTF-8"
                                       : "not UTF-8 in " + faults_text(s.invalid_utf8, ""));
    print_out("  NUL bytes  {}\n", faults_text(s.nul, "none"));
  }
  if (s.empty.records > 0) print_out("  empty      {}\n", faults_text(s.empty, ""));
  print_out("  repeated   {}\n\n",
            !s.counts_repeats() ? fmt::format("not counted, of more than {} records",
                                              with_commas(DataSummary::kMostContents))
            : s.repeated() == 0
                ? "none"
                : fmt::format("{} records, {} distinct", with_commas(s.repeated()),
                              with_commas(static_cast<int64_t>(s.contents.size()))));
}

Json lengths_json(const LengthCounts& lengths) {
  return {{"min", lengths.smallest()}, {"median", lengths.quantile(0.5)},
          {"mean", lengths.mean()},    {"p90", lengths.quantile(0.9)},
          {"max", lengths.largest()},  {"total", lengths.total()}};
}

Json faults_json(const Faults& faults) {
  return {{"records", faults.records}, {"first", faults.first}};
}

void print_json(const Part& part) {
  const DataSummary& s = part.summary;
  Json classes = Json::array(), columns = Json::array();
  for (const auto& [name, count] : s.labels.sorted())
    classes.push_back({{"label", name}, {"records", count}});
  for (const Column& column : part.columns)
    columns.push_back({{"name", column.name}, {"role", column.role}});
  Json json = {{"split", part.split},          {"path", part.path},
               {"format", part.format->name},  {"records", s.records},
               {"columns", columns},           {"classes", classes},
               {"unlabelled", s.unlabelled},   {"multi_label", s.multi_label},
               {"bytes", lengths_json(s.text)}};
  if (s.second.records() > 0) json["second_bytes"] = lengths_json(s.second);
  json["invalid_utf8"] = faults_json(s.invalid_utf8);
  json["nul"] = faults_json(s.nul);
  json["empty"] = faults_json(s.empty);
  if (s.counts_repeats()) json["distinct"] = s.contents.size();
  // Names and places may hold any bytes; a JSON line may not.
  write_json(json);
}

void run(const Options& options, const ReadOptions& read) {
  const std::vector<Part> parts = inspect_all(options, read);
  for (const Part& part : parts) options.json ? print_json(part) : print_part(part);
  for (size_t i = 0; i < parts.size(); ++i) {
    for (size_t j = i + 1; j < parts.size(); ++j) {
      if (!parts[i].summary.counts_repeats() || !parts[j].summary.counts_repeats()) continue;
      const int64_t shared = shared_contents(parts[i].summary, parts[j].summary);
      if (options.json) {
        write_json(Json{{"between", {parts[i].split, parts[j].split}}, {"shared", shared}});
      } else {
        print_out("in {} and in {}: {}\n", parts[i].split, parts[j].split,
                  shared == 0 ? "nothing" : with_commas(shared) + " contents");
      }
    }
  }
}

}  // namespace

void add_data_inspect(CLI::App& data) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = data.add_subcommand(
      "inspect", "Records, columns, classes, lengths, faults of encoding, repeats");
  verb->footer(
      "Examples:\n  linnet data inspect train.csv --test test.csv\n  linnet data inspect "
      "aclImdb_v1.tar.gz\n  xz -dc train.tsv.xz | linnet data inspect - --json");
  verb->add_option("data", options->path, "A file, a folder, an archive, or - for standard input")
      ->required();
  verb->add_option("--validation", options->validation, "Also this one; repeats between them");
  verb->add_option("--test", options->test, "Also this one; repeats between them");
  verb->add_flag("--json", options->json, "One JSON object a split");
  verb->callback([options, flags = DataFlags(*verb)] { run(*options, flags.options()); });
}

}  // namespace linnet
