// short_conv.cpp -- the short convolution over rows, one source for all CPU targets.
#include "kernels/short_conv.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/short_conv.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::HWY_NAMESPACE {

// From the last row to the first: a row of x is read by itself and by later rows only, so that y
// may take its place. The taps' rows are in L1 from the row before.
void Convolve(int64_t rows, int64_t cols, int64_t taps, const float* weight, ConstMat x, Mat y) {
  for (int64_t r = rows; r-- > 0;) {
    float* out = y.row(r);
    for_each_vector(cols, [&](auto load, auto store) HWY_ATTR {
      V sum = hn::Mul(load(weight), load(x.row(r)));
      for (int64_t j = 1; j < taps; ++j) {
        sum = hn::MulAdd(load(weight + j * cols), load(x.row(r - j)), sum);
      }
      store(sum, out);
    });
  }
}

// The rows of a chunk are summed in registers and then added, as in AddColumnSums.
void ConvolveBackwardWeights(int64_t rows, int64_t cols, int64_t taps, ConstMat x, ConstMat dy,
                             float* dweight) {
  for (int64_t j = 0; j < taps; ++j) {
    float* out = dweight + j * cols;
    for_each_vector(cols, [&](auto load, auto store) HWY_ATTR {
      V sum0 = constant(0), sum1 = sum0;
      int64_t r = 0;
      for (; r + 2 <= rows; r += 2) {
        sum0 = hn::MulAdd(load(dy.row(r)), load(x.row(r - j)), sum0);
        sum1 = hn::MulAdd(load(dy.row(r + 1)), load(x.row(r + 1 - j)), sum1);
      }
      if (r < rows) sum0 = hn::MulAdd(load(dy.row(r)), load(x.row(r - j)), sum0);
      store(hn::Add(load(out), hn::Add(sum0, sum1)), out);
    });
  }
}

}  // namespace linnet::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet {

HWY_EXPORT(Convolve);
HWY_EXPORT(ConvolveBackwardWeights);

void convolve(int64_t rows, int64_t cols, int64_t taps, const float* weight, ConstMat x,
              Mat y) noexcept {
  HWY_DYNAMIC_DISPATCH(Convolve)(rows, cols, taps, weight, x, y);
}
void convolve_backward_weights(int64_t rows, int64_t cols, int64_t taps, ConstMat x, ConstMat dy,
                               float* dweight) noexcept {
  HWY_DYNAMIC_DISPATCH(ConvolveBackwardWeights)(rows, cols, taps, x, dy, dweight);
}

}  // namespace linnet
#endif
