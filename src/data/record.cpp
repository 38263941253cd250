// record.cpp -- places and labels of records.
#include "data/record.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/file.h"
#include "data/ascii.h"

namespace linnet {

std::string place_of(const Record& record) {
  return fmt::format("{}:{}:{}", place_of(std::string(record.file)), record.line, record.column);
}

void check_second(const Record& record) {
  if (record.second.data() == nullptr)
    throw Error(
        fmt::format("[{}] has no second text to match: name its column with --second-column",
                    place_of(record)));
}

bool RecordReader::next(Record& record) {
  record.text = record.second = record.file = {};
  record.labels.clear();
  record.continues = false;
  record.line = 0;
  record.column = 1;
  if (read(record)) return any_ = true;
  if (!any_) throw Error(fmt::format("[{}] has no records", place_of(name_)));
  return false;
}

void check_labels(const Record& record, size_t labels) {
  if (labels > kMostLabels)
    throw Error(fmt::format("[{}] more than {} labels", place_of(record), kMostLabels));
}

void add_labels(std::string_view text, std::string_view separator, Record& record) {
  while (!text.empty()) {
    const size_t end = separator.empty() ? text.npos : text.find(separator);
    const std::string_view label = trim(text.substr(0, end));
    if (!label.empty()) check_labels(record, record.labels.size() + 1);
    if (!label.empty()) record.labels.push_back(label);
    if (end == text.npos) return;
    text.remove_prefix(end + separator.size());
  }
}

}  // namespace linnet
