// gated_scan.cpp -- running sums with a forgetting of each row's own, one source for all CPU
// targets.
//
// Row after row, since a row is the start of the next: what it reads is in L1, and its vectors do
// not wait for each other.
#include "kernels/gated_scan.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gated_scan.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::HWY_NAMESPACE {

void GatedScan(int64_t rows, int64_t cols, const float* b, ConstMat e, ConstMat v, float* h,
               Mat out) {
  const float* before = h;
  for (int64_t r = 0; r < rows; ++r) {
    for_each_vector(cols, [&](auto load, auto store) HWY_ATTR {
      const V sum = load(before);
      const V change = hn::NegMulAdd(load(e.row(r)), sum, hn::Mul(load(b), load(v.row(r))));
      store(hn::Add(sum, change), out.row(r));
    });
    before = out.row(r);
  }
  if (rows > 0) std::copy_n(before, cols, h);
}

void GatedScanBackward(int64_t rows, int64_t cols, const float* b, ConstMat e, const float* h,
                       ConstMat out, ConstMat dout, float* l, Mat dv, Mat de) {
  for (int64_t r = rows - 1; r >= 0; --r) {
    const float* before = r > 0 ? out.row(r - 1) : h;
    for_each_vector(cols, [&](auto load, auto store) HWY_ATTR {
      const V owed = hn::Add(load(l), load(dout.row(r)));
      store(hn::Neg(hn::Mul(owed, load(before))), de.row(r));
      store(hn::Mul(load(b), owed), dv.row(r));
      store(hn::NegMulAdd(load(e.row(r)), owed, owed), l);
    });
  }
}

}  // namespace linnet::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet {

HWY_EXPORT(GatedScan);
HWY_EXPORT(GatedScanBackward);

void gated_scan(int64_t rows, int64_t cols, const float* b, ConstMat e, ConstMat v, float* h,
                Mat out) noexcept {
  HWY_DYNAMIC_DISPATCH(GatedScan)(rows, cols, b, e, v, h, out);
}
void gated_scan_backward(int64_t rows, int64_t cols, const float* b, ConstMat e, const float* h,
                         ConstMat out, ConstMat dout, float* l, Mat dv, Mat de) noexcept {
  HWY_DYNAMIC_DISPATCH(GatedScanBackward)(rows, cols, b, e, h, out, dout, l, dv, de);
}

}  // namespace linnet
#endif
