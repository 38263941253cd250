// random.h -- counter-based random numbers: a value depends on (key, stream, index) alone, so on no
// thread and no order.
//
// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace linnet {

using Philox4 = std::array<uint32_t, 4>;

inline Philox4 philox(uint64_t key, uint64_t stream, uint64_t index) {
  Philox4 c = {static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32),
               static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)};
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53} * c[0];
    const uint64_t p1 = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(p0)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return c;
}

// A sequence of draws from one stream; copying it copies its position.
class Random {
 public:
  explicit Random(uint64_t key, uint64_t stream = 0) : key_(key), stream_(stream) {}

  uint32_t bits() {
    if (left_ == 0) {
      block_ = philox(key_, stream_, index_++);
      left_ = 4;
    }
    return block_[4 - left_--];
  }
  uint64_t bits64() {
    const uint64_t high = bits();
    return high << 32 | bits();
  }
  // Uniform in [0, 1), 53 bits.
  double uniform() { return static_cast<double>(bits64() >> 11) * 0x1p-53; }
  // Uniform in 0 .. n-1 without bias (Lemire's rejection).
  uint32_t below(uint32_t n) {
    uint64_t product = uint64_t{bits()} * n;
    if (static_cast<uint32_t>(product) < n) {
      const uint32_t threshold = -n % n;
      while (static_cast<uint32_t>(product) < threshold) product = uint64_t{bits()} * n;
    }
    return static_cast<uint32_t>(product >> 32);
  }
  // Standard normal (Box-Muller, one of the pair).
  double normal() {
    const double u = 1.0 - uniform();
    return std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586 * uniform());
  }

 private:
  uint64_t key_, stream_, index_ = 0;
  Philox4 block_{};
  int left_ = 0;
};

}  // namespace linnet
