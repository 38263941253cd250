// summary.h -- what is in a data file: counts, lengths, classes, repeats, faults of encoding; in
// one pass.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "data/labels.h"
#include "data/record.h"

namespace linnet {

// Lengths in bytes. Exact below 64 Ki; above, quantiles are within 0.2%. Constant memory.
class LengthCounts {
 public:
  void add(size_t length);
  int64_t records() const { return records_; }
  int64_t total() const { return total_; }
  int64_t smallest() const { return smallest_; }
  int64_t largest() const { return largest_; }
  double mean() const;
  // The length that the share q of the records does not exceed.
  int64_t quantile(double q) const;
  // Records with a length in [low, high].
  int64_t between(int64_t low, int64_t high) const;

 private:
  std::vector<int64_t> counts_;
  int64_t records_ = 0, total_ = 0, smallest_ = 0, largest_ = 0;
};

// How many records have a fault, and where the first one stands.
struct Faults {
  int64_t records = 0;
  std::string first;
};

struct DataSummary {
  int64_t records = 0, unlabelled = 0, multi_label = 0;
  LabelCounts labels;
  LengthCounts text, second;  // second stays empty when there are no pairs
  Faults empty, invalid_utf8, nul;
  std::vector<uint64_t> contents;  // hashes, sorted, each once: 8 bytes a record
  // Of more records than this, repeats are not counted: some 200 MB.
  static constexpr int64_t kMostContents = int64_t{1} << 24;
  bool counts_repeats() const { return records <= kMostContents; }
  int64_t repeated() const { return records - static_cast<int64_t>(contents.size()); }
};

// Reads all; `progress` is called now and then with the number of records.
DataSummary summarize(RecordReader& reader, bool pixels,
                      const std::function<void(int64_t)>& progress);

// Contents that are in both.
int64_t shared_contents(const DataSummary& a, const DataSummary& b);

}  // namespace linnet
