// truncation.cpp -- cuts and windows of a sequence.
#include "data/truncation.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/file.h"

namespace linnet {

Truncation parse_truncation(std::string_view name) {
  if (name == "head") return Truncation::kHead;
  if (name == "tail") return Truncation::kTail;
  if (name == "head+tail") return Truncation::kHeadTail;
  throw Error(
      fmt::format("[truncation] no such way to cut: \"{}\"; there are: head, tail, head+tail",
                  printable(name)));
}

void truncate(std::vector<int32_t>& ids, int64_t length, Truncation how) {
  LINNET_ASSERT(length >= 1);
  const auto surplus = static_cast<int64_t>(ids.size()) - length;
  if (surplus <= 0) return;
  const int64_t head = how == Truncation::kHead   ? length
                       : how == Truncation::kTail ? 0
                                                  : length / 4;
  ids.erase(ids.begin() + head, ids.begin() + head + surplus);
}

std::vector<TokenRange> sliding_windows(int64_t tokens, int64_t length, int64_t stride) {
  LINNET_ASSERT(tokens >= 0 && stride >= 1 && stride <= length);
  std::vector<TokenRange> windows;
  int64_t begin = 0;
  for (; begin + length < tokens; begin += stride) windows.push_back({begin, begin + length});
  windows.push_back({std::max<int64_t>(tokens - length, 0), tokens});
  return windows;
}

}  // namespace linnet
