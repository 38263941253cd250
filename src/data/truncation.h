// truncation.h -- what to do with a sequence that is too long: cut it, or look at it in windows.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace linnet {

// head: the first tokens; tail: the last; head_tail: a quarter from the start and the rest from the
// end (Sun et al., "How to fine-tune BERT for text classification", 2019: 128 and 382 of 510).
enum class Truncation { kHead, kTail, kHeadTail };

// "head", "tail", "head+tail"; another name is an Error.
Truncation parse_truncation(std::string_view name);

// Leaves at most `length` (at least 1) ids.
void truncate(std::vector<int32_t>& ids, int64_t length, Truncation how);

struct TokenRange {
  int64_t begin, end;
  bool operator==(const TokenRange&) const = default;
};

// Windows of `length` tokens that start `stride` tokens apart, 1 <= stride <= length, so that each
// token is in one. The last is moved back to end with the tokens and to be as long as the others.
// A short or empty sequence is one window.
std::vector<TokenRange> sliding_windows(int64_t tokens, int64_t length, int64_t stride);

}  // namespace linnet
