// memory_budget.cpp -- /proc/meminfo, the limits of control groups, and the sentence of what does
// not fit.
#include "core/memory_budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <system_error>

#include "core/error.h"
#include "core/file.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

constexpr double kShare = 0.75;
constexpr double kLeast = 1e6, kMost = 1e15;

double parse_size(std::string_view text) {
  constexpr std::string_view kUnits = "KMG";
  const size_t unit = text.empty() ? kUnits.npos : kUnits.find(text.back());
  double value = 0;
  if (unit != kUnits.npos) {
    const char* end = text.data() + text.size() - 1;
    const auto [rest, fault] = std::from_chars(text.data(), end, value);
    value = fault == std::errc() && rest == end ? value * std::pow(1000, unit + 1) : 0;
  }
  if (value >= kLeast && value <= kMost) return value;
  throw Error(fmt::format(
      "[--memory] must be a size with its unit, such as 512M or 8G, and at least 1M, not \"{}\"",
      printable(text, 40)));
}

// The number in a file of its own; infinite where it is "max", or there is no such file.
double limit_in(const fs::path& file) {
  double bytes = 0;
  std::ifstream in(file);
  return in >> bytes ? bytes : std::numeric_limits<double>::infinity();
}

// Of a group and of all that it is in. In a container the path may be that of the host, so groups
// that are not there are passed over.
double group_limit(const fs::path& top, fs::path group, const char* file) {
  double least = limit_in(top / file);
  for (group = group.relative_path(); !group.empty(); group = group.parent_path())
    least = std::min(least, limit_in(top / group / file));
  return least;
}

}  // namespace

std::string bytes_text(double bytes) {
  if (bytes >= 1e12) return fmt::format("{:.1f} TB", bytes * 1e-12);
  if (bytes >= 1e9) return fmt::format("{:.1f} GB", bytes * 1e-9);
  return fmt::format("{:.0f} MB", bytes * 1e-6);
}

double machine_memory(const fs::path& root) {
  double least = std::numeric_limits<double>::infinity();
  std::ifstream memory(root / "proc/meminfo");
  for (std::string key; memory >> key;) {
    double kilobytes = 0;
    if (key == "MemTotal:" && memory >> kilobytes) least = kilobytes * 1024;
    memory.ignore(4096, '\n');
  }
  // Lines "0::/path" (version 2) and "4:memory:/path" (version 1).
  std::ifstream groups(root / "proc/self/cgroup");
  const fs::path tree = root / "sys/fs/cgroup";
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const fs::path group = line.substr(second + 1);
    if (controllers == ",,") {
      for (const fs::path& top : {tree, tree / "unified"})
        least = std::min(least, group_limit(top, group, "memory.max"));
    } else if (controllers.find(",memory,") != controllers.npos) {
      least = std::min(least, group_limit(tree / "memory", group, "memory.limit_in_bytes"));
    }
  }
  return least;
}

void MemoryNeed::add(std::string place, std::string what, double bytes) {
  if (bytes > 0) parts_.push_back({std::move(place), std::move(what), bytes});
}

void MemoryNeed::add(const MemoryNeed& other) {
  parts_.insert(parts_.end(), other.parts_.begin(), other.parts_.end());
}

double MemoryNeed::bytes() const {
  double sum = 0;
  for (const Part& part : parts_) sum += part.bytes;
  return sum;
}

MemoryBudget::MemoryBudget(std::string_view text)
    : bytes_(text.empty() ? kShare * machine_memory() : parse_size(text)) {}

void MemoryBudget::check(std::string_view what, const MemoryNeed& need) const {
  const double whole = need.bytes();
  if (whole <= bytes_) return;
  auto parts = need.parts_;
  std::ranges::stable_sort(parts, [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  // As many as make more than half of it.
  std::string most;
  double told = 0;
  for (const auto& part : parts) {
    if (told > whole / 2) break;
    most += fmt::format("{}{} for {}", most.empty() ? "" : ", ", bytes_text(part.bytes), part.what);
    told += part.bytes;
  }
  throw Error(fmt::format("[{}] {} takes {}; the budget is {} (--memory): {}", parts[0].place, what,
                          bytes_text(whole), bytes_text(bytes_), most));
}

}  // namespace linnet
