// labels.h -- the classes of a task, in an order that depends on their names alone.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "data/record.h"

namespace linnet {

// Counts of labels, in the order of their classes: by number when all are numbers, else by bytes.
class LabelCounts {
 public:
  void add(std::string_view label, int64_t count = 1);
  std::vector<std::pair<std::string, int64_t>> sorted() const;
  // More labels, or longer ones, than any task has: not counted any further.
  bool overflow() const { return overflow_; }

 private:
  std::map<std::string, int64_t, std::less<>> counts_;
  size_t name_bytes_ = 0;
  bool overflow_ = false;
};

// Built from train; kept in config.json.
class LabelSet {
 public:
  LabelSet() = default;
  explicit LabelSet(std::vector<std::string> names);  // in the order of their classes
  static LabelSet from(const LabelCounts& counts);

  const std::vector<std::string>& names() const { return names_; }
  // The class of a label; -1 when there is none.
  int find(std::string_view label) const;
  // The classes of a record, ascending; an unknown label, or none at all, is an Error with its
  // place.
  std::vector<int> classes_of(const Record& record) const;

 private:
  std::vector<std::string> names_;
  std::map<std::string, int, std::less<>> classes_;
};

}  // namespace linnet
