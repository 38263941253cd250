// arena_results.cpp -- every line is read by the reports' own reader before the file is opened for
// writing.
#include "cli/arena_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "core/file.h"

namespace linnet {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kLargestFile = size_t{1} << 27;             // tens of thousands of runs
constexpr std::string_view kFirst = R"({"plan":{"arena":)";  // how an arena's file begins

// Whether a kill could have left this as the start of a line.
bool is_half_line(std::string_view line, bool first) {
  if (!first) return line.starts_with('{');
  const size_t common = std::min(line.size(), kFirst.size());
  return line.substr(0, common) == kFirst.substr(0, common);
}

}  // namespace

ArenaResults::ArenaResults(std::string path) : path_(std::move(path)) {
  if (!std::filesystem::exists(path_)) {
    const NewFile probe(path_);
    return;
  }
  if (!std::filesystem::is_regular_file(path_))
    throw Error(fmt::format("[{}] is not a regular file", place_of(path_)));
  read(read_file(path_, kLargestFile));
}

void ArenaResults::read(const std::string& text) {
  const size_t start = text.rfind('\n') + 1;  // 0 where there is none
  const std::string_view whole = std::string_view(text).substr(0, start),
                         last = std::string_view(text).substr(start);
  empty_ = whole.find_first_not_of(" \t\r\n") == whole.npos;
  const bool complete = last.empty() || Json::accept(last);
  if (!complete && !is_half_line(last, empty_))
    throw Error(fmt::format("[{}] ends with what is no record of an arena", place_of(path_)));
  const std::string_view kept = complete ? std::string_view(text) : whole;
  add_run_records(kept, place_of(path_), records_);
  if (!last.empty() && complete) empty_ = false;
  log_.emplace(path_, static_cast<int64_t>(kept.size()));
  if (!last.empty() && complete) log_->append("\n");
}

void ArenaResults::append(const Json& line) {
  if (!log_) log_.emplace(path_);
  log_->append(line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  log_->sync();  // the run's folder is removed next
}

}  // namespace linnet
