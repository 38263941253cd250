// softmax.cpp -- softmax over rows and tiles of rows, one source for all CPU targets.
#include "kernels/softmax.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/softmax.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::HWY_NAMESPACE {

float row_max(int64_t cols, const float* row) {
  const Floats d;
  const int64_t N = lanes();
  V top = constant(row[0]);
  int64_t i = 0;
  for (; i + N <= cols; i += N) top = hn::Max(top, hn::LoadU(d, row + i));
  float best = hn::GetLane(hn::MaxOfLanes(d, top));
  for (; i < cols; ++i) best = std::max(best, row[i]);
  return best;
}

// row = exp(row - top); returns the sum.
float exp_row(int64_t cols, float* row, float top) {
  const V shift = constant(top);
  V sum = constant(0);
  const int64_t whole = cols - cols % lanes();
  for_each_vector(whole, [&](auto load, auto store) HWY_ATTR {
    const V p = exp(hn::Sub(load(row), shift));
    sum = hn::Add(sum, p);
    store(p, row);
  });
  float total = hn::GetLane(hn::SumOfLanes(Floats(), sum));
  if (whole < cols) {
    float* tail = row + whole;
    for_each_vector(cols - whole, [&](auto load, auto store)
                                      HWY_ATTR { store(exp(hn::Sub(load(tail), shift)), tail); });
    for (int64_t i = whole; i < cols; ++i) total += row[i];
  }
  return total;
}

void SoftmaxRows(int64_t rows, int64_t cols, Mat x) {
  for (int64_t r = 0; r < rows; ++r) {
    float* row = x.row(r);
    const V scale = constant(1.0f / exp_row(cols, row, row_max(cols, row)));
    for_each_vector(cols,
                    [&](auto load, auto store) HWY_ATTR { store(hn::Mul(load(row), scale), row); });
  }
}

void SoftmaxTile(int64_t rows, int64_t cols, Mat scores, float* m, float* l, float* factor) {
  for (int64_t r = 0; r < rows; ++r) {
    float* row = scores.row(r);
    const float top = std::max(m[r], row_max(cols, row));
    factor[r] = std::exp(m[r] - top);
    l[r] = l[r] * factor[r] + exp_row(cols, row, top);
    m[r] = top;
  }
}

void SoftmaxAgain(int64_t rows, int64_t cols, Mat scores, const float* lse) {
  for (int64_t r = 0; r < rows; ++r) {
    float* row = scores.row(r);
    const V shift = constant(lse[r]);
    for_each_vector(
        cols, [&](auto load, auto store) HWY_ATTR { store(exp(hn::Sub(load(row), shift)), row); });
  }
}

void SoftmaxBackward(int64_t rows, int64_t cols, ConstMat p, const float* delta, Mat dp) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = p.row(r);
    float* out = dp.row(r);
    const V shift = constant(delta[r]);
    for_each_vector(cols, [&](auto load, auto store) HWY_ATTR {
      store(hn::Mul(load(in), hn::Sub(load(out), shift)), out);
    });
  }
}

}  // namespace linnet::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet {

HWY_EXPORT(SoftmaxRows);
HWY_EXPORT(SoftmaxTile);
HWY_EXPORT(SoftmaxAgain);
HWY_EXPORT(SoftmaxBackward);

void softmax_rows(int64_t rows, int64_t cols, Mat x) noexcept {
  HWY_DYNAMIC_DISPATCH(SoftmaxRows)(rows, cols, x);
}
void softmax_tile(int64_t rows, int64_t cols, Mat scores, float* m, float* l,
                  float* factor) noexcept {
  HWY_DYNAMIC_DISPATCH(SoftmaxTile)(rows, cols, scores, m, l, factor);
}
void softmax_again(int64_t rows, int64_t cols, Mat scores, const float* lse) noexcept {
  HWY_DYNAMIC_DISPATCH(SoftmaxAgain)(rows, cols, scores, lse);
}
void softmax_backward(int64_t rows, int64_t cols, ConstMat p, const float* delta, Mat dp) noexcept {
  HWY_DYNAMIC_DISPATCH(SoftmaxBackward)(rows, cols, p, delta, dp);
}

}  // namespace linnet
#endif
