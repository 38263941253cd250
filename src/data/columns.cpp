// columns.cpp -- guesses about tables. All are shown by `linnet data inspect` and can be overruled.
#include "data/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "core/file.h"
#include "data/ascii.h"

namespace linnet {
namespace {

constexpr std::array<std::string_view, 10> kTextNames = {
    "text",     "review",  "sentence", "content", "body",
    "document", "article", "comment",  "source",  "message"};
constexpr std::array<std::string_view, 12> kLabelNames = {
    "label", "labels", "class",      "category", "sentiment", "target",
    "stars", "rating", "gold_label", "tag",      "y",         "class_index"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kPairNames = {{
    {"text1", "text2"},
    {"text_a", "text_b"},
    {"sentence1", "sentence2"},
    {"premise", "hypothesis"},
    {"question1", "question2"},
    {"query", "document"},
    {"question", "sentence"},
    {"source1", "source2"},
}};

int index_of(const std::vector<std::string>& names, std::string_view name) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (lower_case(trim(names[i])) == name) return static_cast<int>(i);
  }
  return -1;
}

bool is_number(std::string_view text) {
  text = trim(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

// Columns of two texts by their names; none: -1, -1.
std::pair<int, int> known_pair(const std::vector<std::string>& names) {
  for (const auto& [first, second] : kPairNames) {
    const std::pair found{index_of(names, first), index_of(names, second)};
    if (found.first >= 0 && found.second >= 0) return found;
  }
  return {-1, -1};
}

template <class Names>
int first_known(const std::vector<std::string>& names, const Names& known) {
  for (const std::string_view name : known) {
    const int found = index_of(names, name);
    if (found >= 0) return found;
  }
  return -1;
}

// A column that the user names; its name counts before its number.
int named_column(const std::string& place, const std::string& wanted, std::string_view flag,
                 const std::vector<std::string>& names, size_t count) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == wanted) return static_cast<int>(i);
  }
  size_t number = 0;
  const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
  const bool is_index = error == std::errc() && end == wanted.data() + wanted.size();
  if (is_index && number >= 1 && number <= count) return static_cast<int>(number - 1);
  std::string known;
  for (size_t i = 0; i < std::min<size_t>(names.size(), 20); ++i)
    known += fmt::format("{}{} {}", i ? ", " : "", i + 1, printable(names[i], 40));
  throw Error(fmt::format("[{}] {}: no column \"{}\"; there are {}{}", place, flag,
                          printable(wanted, 60), count,
                          names.empty() ? ", without names" : ": " + known));
}

double mean_length(const std::vector<SampleRow>& rows, size_t column) {
  double sum = 0;
  for (const SampleRow& row : rows) sum += column < row.size() ? double(row[column].size()) : 0;
  return sum;
}

// The text is what is longest.
int longest_column(const std::vector<SampleRow>& rows, size_t count, int taken) {
  int best = -1;
  for (size_t c = 0; c < count; ++c) {
    if (static_cast<int>(c) == taken) continue;
    if (best < 0 || mean_length(rows, c) > mean_length(rows, static_cast<size_t>(best)))
      best = static_cast<int>(c);
  }
  return std::max(best, 0);
}

// The label is what repeats: the column with the fewest distinct values, unless nearly all of
// them are distinct, as ids are.
int repeating_column(const std::vector<SampleRow>& rows, size_t count, const ColumnChoice& taken) {
  int best = -1;
  size_t fewest = 0, candidates = 0;
  for (size_t c = 0; c < count; ++c) {
    if (static_cast<int>(c) == taken.text || static_cast<int>(c) == taken.second) continue;
    ++candidates;
    std::set<std::string_view> values;
    for (const SampleRow& row : rows) {
      if (c < row.size()) values.insert(row[c]);
    }
    if (best < 0 || values.size() < fewest) {
      best = static_cast<int>(c);
      fewest = values.size();
    }
  }
  return candidates == 1 || rows.size() < 4 || fewest * 2 <= rows.size() ? best : -1;
}

}  // namespace

bool has_header(const std::vector<SampleRow>& rows, const ReadOptions& options) {
  if (options.header) return *options.header;
  if (rows.empty()) return false;
  const SampleRow& first = rows[0];
  for (const std::string* wanted :
       {&options.text_column, &options.second_column, &options.label_column}) {
    if (!wanted->empty() && std::find(first.begin(), first.end(), *wanted) != first.end())
      return true;
  }
  if (std::any_of(first.begin(), first.end(),
                  [](const std::string& cell) { return cell.empty() || is_number(cell); }))
    return false;
  if (first_known(first, kTextNames) >= 0 || first_known(first, kLabelNames) >= 0 ||
      known_pair(first).first >= 0)
    return true;
  for (size_t c = 0; c < first.size() && rows.size() > 1; ++c) {
    const bool numbers = std::all_of(rows.begin() + 1, rows.end(), [&](const SampleRow& row) {
      return c < row.size() && is_number(row[c]);
    });
    if (numbers) return true;
  }
  return false;
}

ColumnChoice choose_columns(const std::string& place, const std::vector<std::string>& names,
                            const std::vector<SampleRow>& rows, const ReadOptions& options) {
  const size_t count = names.empty() ? (rows.empty() ? 1 : rows[0].size()) : names.size();
  const auto named = [&](const std::string& wanted, std::string_view flag) {
    return wanted.empty() ? -1 : named_column(place, wanted, flag, names, count);
  };
  ColumnChoice choice;
  choice.text = named(options.text_column, "--text-column");
  choice.second = named(options.second_column, "--second-column");
  choice.label = named(options.label_column, "--label-column");
  if (choice.label < 0) choice.label = first_known(names, kLabelNames);
  if (options.label_column.empty() && choice.label == choice.text) choice.label = -1;
  if (choice.text < 0 && choice.second < 0)
    std::tie(choice.text, choice.second) = known_pair(names);
  if (choice.text < 0) choice.text = first_known(names, kTextNames);
  if (choice.text < 0) choice.text = longest_column(rows, count, choice.label);
  if (choice.label < 0) choice.label = repeating_column(rows, count, choice);
  if (choice.text == choice.label || choice.text == choice.second) {
    throw Error(fmt::format("[{}] column {} cannot be the text and {} at once", place,
                            choice.text + 1,
                            choice.text == choice.label ? "the label" : "the second text"));
  }
  return choice;
}

std::vector<Column> describe_columns(const ColumnChoice& choice,
                                     const std::vector<std::string>& names, size_t count) {
  std::vector<Column> columns(count);
  for (size_t i = 0; i < count; ++i) {
    const int c = static_cast<int>(i);
    if (i < names.size()) columns[i].name = names[i];
    if (c == choice.text) columns[i].role = "text";
    if (c == choice.second) columns[i].role = "second text";
    if (c == choice.label) columns[i].role = "label";
  }
  return columns;
}

}  // namespace linnet
