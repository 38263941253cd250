// data_flags.cpp -- flags to ReadOptions.
#include "cli/data_flags.h"

namespace linnet {

DataFlags::DataFlags(CLI::App& verb) : values_(std::make_shared<Values>()) {
  std::string names;
  for (const Format* format : formats())
    names += (names.empty() ? "" : ", ") + std::string(format->name);
  const auto add = [&](const char* flag, std::string& value, const std::string& what) {
    CLI::Option* option = verb.add_option(flag, value, what)->group("How the data is read");
    layout_.push_back(option);
    return option;
  };
  ReadOptions& options = values_->options;
  add("--format", options.format, "Guessed if not given: " + names);
  add("--split", options.split, "Of a folder: train, validation, test, unlabelled");
  add("--text-column", options.text_column, "Name or number from 1; guessed if not given");
  add("--second-column", options.second_column, "The other text, for matching");
  add("--label-column", options.label_column, "Name or number from 1; guessed if not given");
  add("--label-separator", options.label_separator,
      "Between the labels of a record: several a row");
  add("--header", values_->header, "Whether the first row names the columns: auto, yes, no")
      ->check(CLI::IsMember({"auto", "yes", "no"}));
  add("--delimiter", options.delimiter, "Of CSV, one character; guessed if not given");
  layout_.push_back(
      verb.add_flag("--escapes", options.escapes, "\\\\ \\t \\n \\r in a table are escapes")
          ->group("How the data is read"));
  verb.add_option("--record-limit", values_->limit_mib, "MiB that one record may have")
      ->check(CLI::Range(0.125, 1048576.0))
      ->capture_default_str()
      ->group("How the data is read");
}

std::string DataFlags::given() const {
  for (const CLI::Option* option : layout_) {
    if (option->count() > 0) return option->get_name();
  }
  return "";
}

ReadOptions DataFlags::options() const {
  ReadOptions options = values_->options;
  if (values_->header != "auto") options.header = values_->header == "yes";
  if (options.delimiter == "\\t") options.delimiter = "\t";
  options.record_limit = static_cast<size_t>(values_->limit_mib * (1 << 20));
  return options;
}

}  // namespace linnet
