// region_max.cpp -- sums of rows and their maxima, one source for all CPU targets.
#include "kernels/region_max.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/region_max.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <cmath>

#include "core/error.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Four vectors of units go through the whole text in registers. Sums are in the order of the places
// on every target, so all of them give the same bits.
void RegionMax(const float* table, int64_t places, int64_t rows, std::span<const int32_t> ids,
               float* top, int32_t* at) {
  const hn::CappedTag<float, kRegionBlock / 4> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto N = static_cast<int64_t>(hn::Lanes(d));
  const int64_t regions = static_cast<int64_t>(ids.size()) - places + 1;
  for (int64_t u = 0; u < kRegionBlock; u += 4 * N) {
    auto top0 = hn::Set(d, -HUGE_VALF), top1 = top0, top2 = top0, top3 = top0;
    auto at0 = hn::Zero(di), at1 = at0, at2 = at0, at3 = at0;
    for (int64_t t = 0; t < regions; ++t) {
      const int32_t* id = ids.data() + t;
      const float* row = table + int64_t{id[0]} * kRegionBlock + u;
      auto z0 = hn::LoadU(d, row), z1 = hn::LoadU(d, row + N), z2 = hn::LoadU(d, row + 2 * N),
           z3 = hn::LoadU(d, row + 3 * N);
      for (int64_t p = 1; p < places; ++p) {
        row = table + (p * rows + id[p]) * kRegionBlock + u;
        z0 = hn::Add(z0, hn::LoadU(d, row));
        z1 = hn::Add(z1, hn::LoadU(d, row + N));
        z2 = hn::Add(z2, hn::LoadU(d, row + 2 * N));
        z3 = hn::Add(z3, hn::LoadU(d, row + 3 * N));
      }
      const auto here = hn::Set(di, static_cast<int32_t>(t));
      const auto keep_larger = [&](auto z, auto& best, auto& place) HWY_ATTR {
        const auto larger = hn::Gt(z, best);
        best = hn::IfThenElse(larger, z, best);
        place = hn::IfThenElse(hn::RebindMask(di, larger), here, place);
      };
      keep_larger(z0, top0, at0);
      keep_larger(z1, top1, at1);
      keep_larger(z2, top2, at2);
      keep_larger(z3, top3, at3);
    }
    const auto store = [&](int64_t i, auto best, auto place) HWY_ATTR {
      hn::StoreU(best, d, top + u + i * N);
      hn::StoreU(place, di, at + u + i * N);
    };
    store(0, top0, at0);
    store(1, top1, at1);
    store(2, top2, at2);
    store(3, top3, at3);
  }
}

}  // namespace linnet::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet {

HWY_EXPORT(RegionMax);

void region_max(const float* table, int64_t places, int64_t rows, std::span<const int32_t> ids,
                float* top, int32_t* at) noexcept {
  LINNET_ASSERT(places >= 1 && static_cast<int64_t>(ids.size()) >= places);
  HWY_DYNAMIC_DISPATCH(RegionMax)(table, places, rows, ids, top, at);
}

}  // namespace linnet
#endif
