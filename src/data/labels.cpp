// labels.cpp -- order and lookup of labels.
#include "data/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/error.h"
#include "core/file.h"

namespace linnet {
namespace {

constexpr size_t kMaxLabels = 100'000;
// config.json (at most 16 MiB) holds the names, a byte of them as up to six.
constexpr size_t kMaxNameBytes = size_t{2} << 20;

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (std::isnan(value)) return std::nullopt;  // has no place in an order
  return value;
}

}  // namespace

void LabelCounts::add(std::string_view label, int64_t count) {
  const auto found = counts_.find(label);
  if (found != counts_.end()) {
    found->second += count;
  } else if (counts_.size() < kMaxLabels && label.size() <= kMaxNameBytes - name_bytes_) {
    counts_.emplace(label, count);
    name_bytes_ += label.size();
  } else {
    overflow_ = true;
  }
}

std::vector<std::pair<std::string, int64_t>> LabelCounts::sorted() const {
  std::vector<std::pair<std::string, int64_t>> result(counts_.begin(), counts_.end());
  const bool numbers = std::all_of(result.begin(), result.end(), [](const auto& entry) {
    return number(entry.first).has_value();
  });
  if (numbers) {
    std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) {
      return *number(a.first) < *number(b.first);
    });
  }
  return result;
}

LabelSet::LabelSet(std::vector<std::string> names) : names_(std::move(names)) {
  for (size_t i = 0; i < names_.size(); ++i) {
    if (!classes_.emplace(names_[i], static_cast<int>(i)).second)
      throw Error(fmt::format("[labels] \"{}\" stands twice", printable(names_[i], 60)));
  }
}

LabelSet LabelSet::from(const LabelCounts& counts) {
  if (counts.overflow()) {
    throw Error(fmt::format(
        "[labels] more than {} classes, or {} bytes of their names: is it the right column?",
        kMaxLabels, kMaxNameBytes));
  }
  std::vector<std::string> names;
  for (auto& [name, count] : counts.sorted()) names.push_back(name);
  return LabelSet(std::move(names));
}

int LabelSet::find(std::string_view label) const {
  const auto found = classes_.find(label);
  return found == classes_.end() ? -1 : found->second;
}

std::vector<int> LabelSet::classes_of(const Record& record) const {
  std::vector<int> classes;
  for (const std::string_view label : record.labels) {
    classes.push_back(find(label));
    if (classes.back() >= 0) continue;
    std::string known;
    for (size_t i = 0; i < std::min<size_t>(names_.size(), 10); ++i)
      known += (i ? ", " : "") + printable(names_[i], 30);
    throw Error(
        fmt::format("[{}] label \"{}\" is not among the {} classes of the training data: "
                    "{}{}",
                    place_of(record), printable(label, 60), names_.size(), known,
                    names_.size() > 10 ? ", ..." : ""));
  }
  if (classes.empty()) throw Error(fmt::format("[{}] has no label", place_of(record)));
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  return classes;
}

}  // namespace linnet
