// adamw.cpp -- the optimiser's one loop.
#include "kernels/adamw.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/adamw.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::HWY_NAMESPACE {

void Adamw(int64_t n, const AdamwStep& s, const float* dw, float* w, float* m, float* v) {
  const V b1 = constant(s.beta1), b2 = constant(s.beta2);
  const V a1 = constant(1 - s.beta1), a2 = constant(1 - s.beta2);
  const V c1 = constant(1 / s.correction1), c2 = constant(1 / s.correction2);
  const V eps = constant(s.eps), rate = constant(s.rate), decay = constant(s.decay);
  const V grad_scale = constant(s.gradient_scale);
  for_each_vector(n, [&](auto load, auto store) HWY_ATTR {
    const V g = hn::Mul(load(dw), grad_scale);
    const V m1 = hn::MulAdd(b1, load(m), hn::Mul(a1, g));
    const V v1 = hn::MulAdd(b2, load(v), hn::Mul(a2, hn::Mul(g, g)));
    const V w0 = load(w);
    const V update = hn::Div(hn::Mul(m1, c1), hn::Add(hn::Sqrt(hn::Mul(v1, c2)), eps));
    store(m1, m);
    store(v1, v);
    store(hn::NegMulAdd(rate, hn::MulAdd(decay, w0, update), w0), w);
  });
}

}  // namespace linnet::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet {

HWY_EXPORT(Adamw);

void adamw(int64_t n, const AdamwStep& step, const float* dw, float* w, float* m,
           float* v) noexcept {
  HWY_DYNAMIC_DISPATCH(Adamw)(n, step, dw, w, m, v);
}

}  // namespace linnet
#endif
