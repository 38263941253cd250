// search_record.h -- autotune.jsonl: what a search was asked, one line a look, the choice at the
// end.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "train/autotune.h"

namespace linnet {

struct SearchRecord {
  nlohmann::json asked;
  std::vector<TuningLook> looks;  // their `rounds` are not in the file
  std::optional<size_t> chosen;
};

// What the search has; for the ranges of what a record may speak of.
struct SearchSize {
  size_t candidates = 0;
  int rounds = 0;
};

// An Error names `place`, the line and what is wrong with it. `metric`: how earlier versions called
// the score.
SearchRecord parse_search(std::string_view text, std::string_view place, const SearchSize& size,
                          const std::string& metric);

}  // namespace linnet
