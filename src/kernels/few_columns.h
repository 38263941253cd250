// few_columns.h -- fewer numbers than a panel has, copied by moves instead of a call.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/gemm.h"

namespace linnet {

template <int64_t kSize>
void copy_part(int64_t n, const float*& from, float*& to) noexcept {
  if ((n & kSize) == 0) return;
  std::memcpy(to, from, kSize * sizeof(float));
  from += kSize;
  to += kSize;
}

// 0 <= n < 16 numbers.
inline void copy_few(int64_t n, const float* from, float* to) noexcept {
  static_assert(kPanel == 16);
  copy_part<8>(n, from, to);
  copy_part<4>(n, from, to);
  copy_part<2>(n, from, to);
  copy_part<1>(n, from, to);
}

// The same, and zeros up to 16.
inline void pad_few(int64_t n, const float* from, float* to) noexcept {
  std::memset(to, 0, kPanel * sizeof(float));
  copy_few(n, from, to);
}

}  // namespace linnet
