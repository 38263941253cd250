// ngram_ids.h -- n-grams of hashed items as ids of a table, each id once.
//
//   h_1 = item_1, h_k = h_(k-1) * factor + item_k  (mod 2^64), id = the high bits of h
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace linnet {

class NgramIds {
 public:
  // Ids below 2^bits of the n-grams of 1 .. longest items go to `ids`.
  NgramIds(int longest, int bits, std::vector<uint32_t>& ids)
      : longest_(static_cast<size_t>(longest)), bits_(bits), ids_(ids) {
    ids_.clear();
  }
  void add(uint64_t item) {
    constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;
    // Those that ended at the item before, each with this one behind it.
    if (hashes_.size() == longest_) hashes_.pop_back();
    for (uint64_t& h : hashes_) h = h * kFactor + item;
    hashes_.insert(hashes_.begin(), item);
    for (const uint64_t h : hashes_) ids_.push_back(static_cast<uint32_t>(h >> (64 - bits_)));
  }
  // After the last item: ascending, without repeats.
  void finish() {
    std::ranges::sort(ids_);
    ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());  // clang 14 has no subrange
  }

 private:
  size_t longest_;
  int bits_;
  std::vector<uint32_t>& ids_;
  std::vector<uint64_t> hashes_;  // of the n-grams that end at the last item, the longest last
};

}  // namespace linnet
