// arena_results.h -- the file of an arena's records: looked at before it is touched, then only
// added to.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/log_file.h"
#include "report/run_records.h"

namespace linnet {

class ArenaResults {
 public:
  // A file of anything else than records is an Error that leaves it as it is; so is a place where
  // none can be written. Half a line at the end, as a kill leaves it, is cut off.
  explicit ArenaResults(std::string path);

  const std::string& path() const { return path_; }
  // What it had when it was opened.
  const RunRecords& records() const { return records_; }
  bool was_empty() const { return empty_; }
  // Returns when the line is on the disk.
  void append(const nlohmann::ordered_json& line);

 private:
  void read(const std::string& text);
  std::string path_;
  RunRecords records_;
  bool empty_ = true;
  std::optional<LogFile> log_;  // made by the first line
};

}  // namespace linnet
