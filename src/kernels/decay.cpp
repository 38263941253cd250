// decay.cpp -- products times powers by their distance, one source for all CPU targets.
//
// The powers of a row lie in a row too, one place further left than those of the row before.
#include "kernels/decay.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/decay.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::HWY_NAMESPACE {

HWY_INLINE float sum_of(V v) { return hn::GetLane(hn::SumOfLanes(Floats(), v)); }

void DecayProducts(int64_t rows, int64_t cols, int64_t offset, const float* power, Mat a,
                   float* sums) {
  for (int64_t i = 0; i < rows; ++i) {
    const float* powers = power - offset - i;
    V sum = constant(0);
    for_each_vector(cols, [&](auto load, auto store) HWY_ATTR {
      const V product = hn::Mul(load(a.row(i)), load(powers));
      store(product, a.row(i));
      sum = hn::Add(sum, product);
    });
    sums[i] += sum_of(sum);
  }
}

void DecayProductsBackward(int64_t rows, int64_t cols, int64_t offset, const float* power,
                           const float* distance, ConstMat a, const float* bias, Mat da,
                           float* along) {
  for (int64_t i = 0; i < rows; ++i) {
    const float *powers = power - offset - i, *distances = distance - offset - i;
    const V more = constant(bias[i]);
    V sum = constant(0);
    for_each_vector(cols, [&](auto load, auto store) HWY_ATTR {
      const V owed = hn::Add(load(da.row(i)), more);
      sum = hn::MulAdd(hn::Mul(load(distances), load(a.row(i))), owed, sum);
      store(hn::Mul(owed, load(powers)), da.row(i));
    });
    along[i] = sum_of(sum);
  }
}

}  // namespace linnet::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet {

HWY_EXPORT(DecayProducts);
HWY_EXPORT(DecayProductsBackward);

void decay_products(int64_t rows, int64_t cols, int64_t offset, const float* power, Mat a,
                    float* sums) noexcept {
  HWY_DYNAMIC_DISPATCH(DecayProducts)(rows, cols, offset, power, a, sums);
}
void decay_products_backward(int64_t rows, int64_t cols, int64_t offset, const float* power,
                             const float* distance, ConstMat a, const float* bias, Mat da,
                             float* along) noexcept {
  HWY_DYNAMIC_DISPATCH(DecayProductsBackward)
  (rows, cols, offset, power, distance, a, bias, da, along);
}

}  // namespace linnet
#endif
