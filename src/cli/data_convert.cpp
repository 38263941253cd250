// data_convert.cpp -- linnet data convert: any layout that linnet reads, as CSV or JSON lines.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/data.h"
#include "cli/data_flags.h"
#include "cli/output_file.h"
#include "cli/terminal.h"
#include "core/error.h"
#include "core/file.h"

namespace linnet {
namespace {

struct Options {
  std::string path, out;
};

// In quotes, inner quotes twice.
void append_quoted(std::string_view text, std::string& line) {
  line += '"';
  for (size_t at = 0;;) {
    const size_t quote = text.find('"', at);
    line += text.substr(at, quote - at);
    if (quote == text.npos) break;
    line += "\"\"";
    at = quote + 1;
  }
  line += '"';
}

// Several labels of one record stand in one field, with blanks between: --label-separator " ".
void append_csv(const Record& record, bool pairs, std::string& line) {
  std::string labels;
  for (const std::string_view label : record.labels)
    labels += (labels.empty() ? "" : " ") + std::string(label);
  append_quoted(labels, line);
  line += ',';
  append_quoted(record.text, line);
  if (pairs) {
    line += ',';
    append_quoted(record.second, line);
  }
  line += '\n';
}

void append_jsonl(const Record& record, bool pairs, std::string& line) {
  nlohmann::ordered_json json;
  if (record.labels.size() == 1) {
    json["label"] = record.labels[0];
  } else {
    json["label"] = record.labels;
  }
  json[pairs ? "text1" : "text"] = record.text;
  if (pairs) json["text2"] = record.second;
  try {
    line += json.dump() + "\n";
  } catch (const nlohmann::json::exception&) {
    throw Error(fmt::format("[{}] is not UTF-8, so it has no form in JSON; CSV keeps all bytes",
                            place_of(record)));
  }
}

void run(const Options& options, const ReadOptions& read) {
  const bool csv = options.out == "-" || options.out.ends_with(".csv");
  if (!csv && !options.out.ends_with(".jsonl")) {
    throw Error(
        fmt::format("[--out] must end with .csv or .jsonl, or be -: {}", printable(options.out)));
  }
  OutputFile file(options.out);
  OpenData data = open_data(options.path, read);
  if (data.format->pixels)
    throw Error(fmt::format("[{}] holds images, which have no form as text", data.path));
  Progress progress("converting");
  Record record;
  std::string line;
  int64_t rows = 0;
  bool pairs = false;
  while (data.reader->next(record)) {
    if (rows++ == 0) {
      pairs = record.second.data() != nullptr;
      if (csv) file.write(pairs ? "label,text1,text2\n" : "label,text\n");
    }
    line.clear();
    csv ? append_csv(record, pairs, line) : append_jsonl(record, pairs, line);
    file.write(line);
    if (rows % 1024 == 0) {
      progress.show(std::max(data.reader->done(), 0.0), with_commas(rows) + " records");
    }
  }
  progress.show(1, with_commas(rows) + " records");
  file.close();
}

}  // namespace

void add_data_convert(CLI::App& data) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = data.add_subcommand("convert", "Any layout of text to CSV or JSON lines");
  verb->footer(
      "Examples:\n  linnet data convert aclImdb_v1.tar.gz --split test --out test.csv\n  linnet "
      "data convert train.ft.txt --out train.jsonl");
  verb->add_option("data", options->path, "A file, a folder, an archive, or - for standard input")
      ->required();
  verb->add_option("--out", options->out, "A name with .csv or .jsonl; - for CSV to the terminal")
      ->required();
  verb->callback([options, flags = DataFlags(*verb)] { run(*options, flags.options()); });
}

}  // namespace linnet
