// split.cpp -- multiply and fold, eight bytes at a time.
#include "data/split.h"

#include <bit>
#include <cstring>

namespace linnet {
namespace {

// The last step of MurmurHash3 (Appleby): every bit of the input reaches every bit of the result.
uint64_t mix(uint64_t h) {
  h = (h ^ h >> 33) * 0xff51afd7ed558ccd;
  h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53;
  return h ^ h >> 33;
}

uint64_t load(const char* bytes, size_t n) {
  uint64_t word = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&word, bytes, n);
  } else {
    for (size_t i = 0; i < n; ++i) word |= uint64_t{static_cast<unsigned char>(bytes[i])} << 8 * i;
  }
  return word;
}

}  // namespace

uint64_t hash_bytes(std::string_view bytes, uint64_t seed) {
  uint64_t hash = mix(seed + 0x9E3779B97F4A7C15) ^ bytes.size();
  while (bytes.size() >= 8) {
    hash = (hash ^ load(bytes.data(), 8)) * 0xD6E8FEB86659FD93;
    hash ^= hash >> 32;
    bytes.remove_prefix(8);
  }
  if (!bytes.empty()) hash = (hash ^ load(bytes.data(), bytes.size())) * 0xD6E8FEB86659FD93;
  return mix(hash);
}

uint64_t hash_content(const Record& record) {
  const uint64_t hash = hash_bytes(record.text);
  return record.second.empty() ? hash : hash_bytes(record.second, hash);
}

uint64_t hash_records(uint64_t before, const Record& record, bool labelled) {
  // Each hash begins with a length, so that nothing moves from one text to the next unseen.
  uint64_t hash = hash_bytes(record.second, hash_bytes(record.text, before));
  if (!labelled) return hash;
  for (const std::string_view label : record.labels) hash = hash_bytes(label, hash);
  return hash + record.labels.size();
}

bool in_validation(const Record& record, double share) {
  // Mixed once more, so that the side says nothing about the hash that repeats are found by.
  return static_cast<double>(mix(hash_content(record) + 1) >> 11) * 0x1p-53 < share;
}

}  // namespace linnet
