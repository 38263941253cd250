// scan.cpp -- running sums with decays, one source for all CPU targets.
//
// Column by column of vectors, so that the sums of one stay in registers over all rows: 8 sums, and
// the decays and weights as operands from L1. A row costs two FMAs and an addition a sum; the
// chains of the sums are 8 cycles long and independent.
#include "kernels/scan.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/scan.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::HWY_NAMESPACE {

static_assert(kScanSums == 8);

// One vector for each of the sums of a column, by name: an array would live in memory.
struct SumsOfColumn {
  V n0, n1, n2, n3, n4, n5, n6, n7;
  template <class Visit>
  HWY_INLINE void for_each(const Visit& visit) {
    visit(0, n0), visit(1, n1), visit(2, n2), visit(3, n3);
    visit(4, n4), visit(5, n5), visit(6, n6), visit(7, n7);
  }
};

int64_t ScanHistoryFloats(int64_t rows) { return (rows + 1) * kScanSums * lanes(); }

void Scan(int64_t rows, int64_t cols, const float* e, const float* u, ConstMat v, float* h, Mat s) {
  for_each_vector(cols, [&](auto load, auto store) HWY_ATTR {
    SumsOfColumn sums;
    sums.for_each([&](int64_t n, V& sum) HWY_ATTR { sum = load(h + n * cols); });
    for (int64_t r = 0; r < rows; ++r) {
      const V x = load(v.row(r));
      V even = constant(0), odd = even;
      sums.for_each([&](int64_t n, V& sum) HWY_ATTR {
        sum = hn::Add(sum, hn::NegMulAdd(load(e + n * cols), sum, x));
        V& part = n % 2 == 0 ? even : odd;
        part = hn::MulAdd(load(u + n * cols), sum, part);
      });
      if (s.data) store(hn::Add(load(s.row(r)), hn::Add(even, odd)), s.row(r));
    }
    sums.for_each([&](int64_t n, V& sum) HWY_ATTR { store(sum, h + n * cols); });
  });
}

void ScanBackward(int64_t rows, int64_t cols, const float* e, const float* u, ConstMat v,
                  const float* h, ConstMat ds, float* l, Mat dv, float* da, float* du,
                  float* history) {
  const Floats d;
  const int64_t N = lanes();
  const auto at = [&](int64_t r, int64_t n) HWY_ATTR { return history + (r * kScanSums + n) * N; };
  for_each_vector(cols, [&](auto load, auto store) HWY_ATTR {
    SumsOfColumn sums;
    sums.for_each([&](int64_t n, V& sum) HWY_ATTR {
      sum = load(h + n * cols);
      hn::StoreU(sum, d, at(0, n));
    });
    for (int64_t r = 0; r < rows; ++r) {
      const V x = load(v.row(r));
      sums.for_each([&](int64_t n, V& sum) HWY_ATTR {
        sum = hn::Add(sum, hn::NegMulAdd(load(e + n * cols), sum, x));
        hn::StoreU(sum, d, at(r + 1, n));
      });
    }
    // Sum after sum, so that its four running values stay in registers.
    for (int64_t n = 0; n < kScanSums; ++n) {
      const V loss = load(e + n * cols), weight = load(u + n * cols);
      V owed = load(l + n * cols), to_decay = constant(0), to_weight = constant(0);
      for (int64_t r = rows - 1; r >= 0; --r) {
        const V dy = load(ds.row(r));
        owed = hn::MulAdd(weight, dy, owed);
        to_weight = hn::MulAdd(dy, hn::LoadU(d, at(r + 1, n)), to_weight);
        to_decay = hn::MulAdd(owed, hn::LoadU(d, at(r, n)), to_decay);
        store(hn::Add(load(dv.row(r)), owed), dv.row(r));
        owed = hn::NegMulAdd(loss, owed, owed);
      }
      store(owed, l + n * cols);
      store(hn::Add(load(da + n * cols), to_decay), da + n * cols);
      store(hn::Add(load(du + n * cols), to_weight), du + n * cols);
    }
  });
}

}  // namespace linnet::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet {

HWY_EXPORT(ScanHistoryFloats);
HWY_EXPORT(Scan);
HWY_EXPORT(ScanBackward);

int64_t scan_history_floats(int64_t rows) noexcept {
  return HWY_DYNAMIC_DISPATCH(ScanHistoryFloats)(rows);
}
void scan(int64_t rows, int64_t cols, const float* e, const float* u, ConstMat v, float* h,
          Mat s) noexcept {
  HWY_DYNAMIC_DISPATCH(Scan)(rows, cols, e, u, v, h, s);
}
void scan_backward(int64_t rows, int64_t cols, const float* e, const float* u, ConstMat v,
                   const float* h, ConstMat ds, float* l, Mat dv, float* da, float* du,
                   float* history) noexcept {
  HWY_DYNAMIC_DISPATCH(ScanBackward)(rows, cols, e, u, v, h, ds, l, dv, da, du, history);
}

}  // namespace linnet
#endif
