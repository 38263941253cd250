// summary.cpp -- one pass over the records.
#include "data/summary.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/utf8.h"
#include "data/split.h"

namespace linnet {
namespace {

// Buckets: one a length below 2^16; above, 2^9 for each doubling.
constexpr int kExactBits = 16, kStepBits = 9;

size_t bucket_of(uint64_t length) {
  if (length < uint64_t{1} << kExactBits) return length;
  const int shift = std::bit_width(length) - 1 - kStepBits;
  const uint64_t step = (length >> shift) - (uint64_t{1} << kStepBits);
  return (uint64_t{1} << kExactBits) +
         (static_cast<uint64_t>(shift - (kExactBits - kStepBits)) << kStepBits) + step;
}

// The smallest length of a bucket.
int64_t length_of(size_t bucket) {
  if (bucket < size_t{1} << kExactBits) return static_cast<int64_t>(bucket);
  const size_t rest = bucket - (size_t{1} << kExactBits);
  const size_t shift = (rest >> kStepBits) + (kExactBits - kStepBits);
  const size_t step = (rest & ((size_t{1} << kStepBits) - 1)) + (size_t{1} << kStepBits);
  return static_cast<int64_t>(step << shift);
}

void note(Faults& faults, const Record& record) {
  if (faults.records++ == 0) faults.first = place_of(record);
}

void check_bytes(const Record& record, DataSummary& summary) {
  const auto has_nul = [](std::string_view text) {
    return !text.empty() && std::memchr(text.data(), '\0', text.size()) != nullptr;
  };
  const auto invalid = [](std::string_view text) {
    return find_invalid_utf8(text) != std::string_view::npos;
  };
  if (has_nul(record.text) || has_nul(record.second)) note(summary.nul, record);
  if (invalid(record.text) || invalid(record.second)) note(summary.invalid_utf8, record);
}

}  // namespace

void LengthCounts::add(size_t length) {
  const size_t bucket = bucket_of(length);
  if (bucket >= counts_.size()) counts_.resize(bucket + 1);
  ++counts_[bucket];
  const auto value = static_cast<int64_t>(length);
  smallest_ = records_ == 0 ? value : std::min(smallest_, value);
  largest_ = std::max(largest_, value);
  total_ += value;
  ++records_;
}

double LengthCounts::mean() const {
  return records_ == 0 ? 0 : static_cast<double>(total_) / static_cast<double>(records_);
}

int64_t LengthCounts::quantile(double q) const {
  const auto wanted =
      std::max<int64_t>(1, static_cast<int64_t>(std::ceil(q * static_cast<double>(records_))));
  int64_t seen = 0;
  for (size_t bucket = 0; bucket < counts_.size(); ++bucket) {
    seen += counts_[bucket];
    if (seen >= wanted) return length_of(bucket);
  }
  return 0;
}

int64_t LengthCounts::between(int64_t low, int64_t high) const {
  const size_t first = bucket_of(static_cast<uint64_t>(low));
  const size_t last = std::min(bucket_of(static_cast<uint64_t>(high)) + 1, counts_.size());
  int64_t sum = 0;
  for (size_t bucket = first; bucket < last; ++bucket) sum += counts_[bucket];
  return sum;
}

DataSummary summarize(RecordReader& reader, bool pixels,
                      const std::function<void(int64_t)>& progress) {
  DataSummary summary;
  Record record;
  while (reader.next(record)) {
    if (++summary.records % 1024 == 0) progress(summary.records);
    summary.text.add(record.text.size());
    if (record.second.data() != nullptr) summary.second.add(record.second.size());
    if (record.text.empty()) note(summary.empty, record);
    if (!pixels) check_bytes(record, summary);
    if (record.labels.empty()) ++summary.unlabelled;
    if (record.labels.size() > 1) ++summary.multi_label;
    for (const std::string_view label : record.labels) summary.labels.add(label);
    if (summary.counts_repeats())
      summary.contents.push_back(hash_content(record));
    else
      summary.contents = {};
  }
  std::sort(summary.contents.begin(), summary.contents.end());
  summary.contents.erase(std::unique(summary.contents.begin(), summary.contents.end()),
                         summary.contents.end());
  return summary;
}

int64_t shared_contents(const DataSummary& a, const DataSummary& b) {
  int64_t shared = 0;
  for (auto x = a.contents.begin(), y = b.contents.begin();
       x != a.contents.end() && y != b.contents.end();) {
    if (*x == *y) ++shared;
    const bool step_x = *x <= *y, step_y = *y <= *x;
    x += step_x;
    y += step_y;
  }
  return shared;
}

}  // namespace linnet
