// view.h -- matrices inside larger buffers: a pointer and the distance between rows.
#pragma once

#include <cstdint>

namespace linnet {

// Element (r, c) at data[r * ld + c].
struct Mat {
  float* data = nullptr;
  int64_t ld = 0;
  float* row(int64_t r) const { return data + r * ld; }
  // The same matrix from column c, or from row r, on.
  Mat columns(int64_t c) const { return {data + c, ld}; }
  Mat rows(int64_t r) const { return {row(r), ld}; }
};

struct ConstMat {
  const float* data = nullptr;
  int64_t ld = 0;
  ConstMat() = default;
  ConstMat(const float* p, int64_t stride) : data(p), ld(stride) {}
  ConstMat(Mat m) : data(m.data), ld(m.ld) {}
  const float* row(int64_t r) const { return data + r * ld; }
  ConstMat columns(int64_t c) const { return {data + c, ld}; }
  ConstMat rows(int64_t r) const { return {row(r), ld}; }
};

}  // namespace linnet
