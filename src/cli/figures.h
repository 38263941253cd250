// figures.h -- the figures of a score in one line.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "train/task_score.h"

namespace linnet {

// "bits_per_byte" for people.
inline std::string figure_name(std::string_view name) {
  std::string words(name);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

inline std::string figures_text(const TaskScore& score) {
  std::string text;
  for (const auto& [name, value] : score.figures)
    text += fmt::format("{}{} {:.4f}", text.empty() ? "" : ", ", figure_name(name), value);
  return text;
}

}  // namespace linnet
