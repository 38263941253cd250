// simd.h -- the vector vocabulary of the kernels: loops with safe tails, exp and what is built on
// it.
//
// Included inside foreach_target files, once per CPU target; so no include guard but Highway's
// toggle.
#if defined(LINNET_KERNELS_SIMD_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LINNET_KERNELS_SIMD_H_
#undef LINNET_KERNELS_SIMD_H_
#else
#define LINNET_KERNELS_SIMD_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace linnet::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Ints = hn::RebindToSigned<Floats>;
using Words = hn::RebindToUnsigned<Floats>;
using V = hn::Vec<Floats>;

inline int64_t lanes() { return static_cast<int64_t>(hn::Lanes(Floats())); }

// The first n < lanes() floats; the rest are zero. Never reads or writes past the end: by masks
// where the CPU has them, else through the stack. On AVX-512 a row of a head of width 8 is such a
// tail.
#if HWY_TARGET <= HWY_AVX3
HWY_INLINE V load_tail(const float* p, int64_t n) {
  const Floats d;
  return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(n)), d, p);
}
HWY_INLINE void store_tail(V v, float* p, int64_t n) {
  const Floats d;
  hn::BlendedStore(v, hn::FirstN(d, static_cast<size_t>(n)), d, p);
}
#else
HWY_INLINE V load_tail(const float* p, int64_t n) {
  HWY_ALIGN float buffer[HWY_MAX_BYTES / sizeof(float) + 1] = {};
  std::copy_n(p, n, buffer);
  return hn::Load(Floats(), buffer);
}
HWY_INLINE void store_tail(V v, float* p, int64_t n) {
  HWY_ALIGN float buffer[HWY_MAX_BYTES / sizeof(float) + 1];
  hn::Store(v, Floats(), buffer);
  std::copy_n(buffer, n, p);
}
#endif

// body(load, store) for each vector of n elements: load(p) reads the vector of p at the current
// place, store(v, p) writes it. One body serves whole vectors and the tail.
template <class Body>
HWY_INLINE void for_each_vector(int64_t n, const Body& body) {
  const Floats d;
  const int64_t N = lanes();
  int64_t i = 0;
  for (; i + N <= n; i += N) {
    body([&](const float* p) HWY_ATTR { return hn::LoadU(d, p + i); },
         [&](V v, float* p) HWY_ATTR { hn::StoreU(v, d, p + i); });
  }
  if (i < n) {
    body([&](const float* p) HWY_ATTR { return load_tail(p + i, n - i); },
         [&](V v, float* p) HWY_ATTR { store_tail(v, p + i, n - i); });
  }
}

HWY_INLINE V constant(float x) { return hn::Set(Floats(), x); }

// Sum of body(load) over n elements, in an order that depends on n and the target alone. body must
// map a tail of zeros to zero.
template <class Body>
HWY_INLINE float sum_over(int64_t n, const Body& body) {
  V sum0 = constant(0), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  const Floats d;
  const int64_t N = lanes();
  int64_t i = 0;
  const auto at = [&](int64_t place) HWY_ATTR {
    return body([&](const float* p) HWY_ATTR { return hn::LoadU(d, p + place); });
  };
  for (; i + 4 * N <= n; i += 4 * N) {
    sum0 = hn::Add(sum0, at(i));
    sum1 = hn::Add(sum1, at(i + N));
    sum2 = hn::Add(sum2, at(i + 2 * N));
    sum3 = hn::Add(sum3, at(i + 3 * N));
  }
  for (; i < n; i += N) {
    const int64_t left = n - i;
    sum0 = hn::Add(sum0, body([&](const float* p) HWY_ATTR {
                     return left >= N ? hn::LoadU(d, p + i) : load_tail(p + i, left);
                   }));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3))));
}

// exp(x) with relative error below 2e-7, 0 below -87.7, finite above 88.7.
// x = n ln 2 + r, |r| <= ln 2 / 2; exp(r) by the minimax polynomial of degree 6 (relative error
// 2e-9, below a float's rounding). n is rounded by adding 1.5 * 2^23, which leaves it in the low
// bits of the sum: shifted into the exponent they are 2^n, and n = -127 gives 0. ln 2 is split in
// two so that n ln 2 is exact to the last bit of r.
HWY_INLINE V exp(V x) {
  const V magic = constant(12582912.0f);
  const V clamped = hn::Min(hn::Max(x, constant(-88.0f)), constant(88.3762f));
  const V sum = hn::MulAdd(clamped, constant(1.44269504f), magic);
  const V n = hn::Sub(sum, magic);
  V r = hn::NegMulAdd(n, constant(0.693359375f), clamped);
  r = hn::NegMulAdd(n, constant(-2.12194440e-4f), r);
  V p = constant(0.0013836835f);
  p = hn::MulAdd(p, r, constant(0.008374824f));
  p = hn::MulAdd(p, r, constant(0.041668225f));
  p = hn::MulAdd(p, r, constant(0.1666642f));
  p = hn::MulAdd(p, r, constant(0.4999999f));
  p = hn::MulAdd(p, r, constant(1.0f));
  p = hn::MulAdd(p, r, constant(1.0f));
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(Ints(), sum));
  const auto scale = hn::Add(exponent, hn::Set(Ints(), 127 << 23));
  return hn::Mul(p, hn::BitCast(Floats(), scale));
}

// 1 / (1 + exp(-x)).
HWY_INLINE V sigmoid(V x) { return hn::Div(constant(1), hn::Add(constant(1), exp(hn::Neg(x)))); }

// log(1 + u) for 0 <= u <= 1, relative error 1e-7: 2 atanh(s) with s = u / (2 + u) <= 1/3, as s
// times the minimax polynomial of degree 4 in s^2 (relative error 4e-9).
HWY_INLINE V log1p_unit(V u) {
  const V s = hn::Div(u, hn::Add(u, constant(2)));
  const V t = hn::Mul(s, s);
  V p = constant(0.28178334f);
  p = hn::MulAdd(p, t, constant(0.279606f));
  p = hn::MulAdd(p, t, constant(0.4002491f));
  p = hn::MulAdd(p, t, constant(0.66666317f));
  p = hn::MulAdd(p, t, constant(2.0f));
  return hn::Mul(p, s);
}

// log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)): no overflow, full precision for very negative
// x.
HWY_INLINE V softplus(V x) {
  return hn::Add(hn::Max(x, constant(0)), log1p_unit(exp(hn::Neg(hn::Abs(x)))));
}

// 1 - exp(-y) for y >= 0, with full relative precision near 0. If y = softplus(x), this is
// sigmoid(x): the derivative of softplus from its value.
HWY_INLINE V one_minus_exp_neg(V y) {
  // y - y^2/2 + ... to y^7, remainder 0.25^8/8! = 4e-10 of the leading 0.25.
  V p = constant(1.0f / 5040);
  p = hn::NegMulAdd(p, y, constant(1.0f / 720));
  p = hn::NegMulAdd(p, y, constant(1.0f / 120));
  p = hn::NegMulAdd(p, y, constant(1.0f / 24));
  p = hn::NegMulAdd(p, y, constant(1.0f / 6));
  p = hn::NegMulAdd(p, y, constant(0.5f));
  p = hn::NegMulAdd(p, y, constant(1.0f));
  const V small = hn::Mul(p, y);
  const V large = hn::Sub(constant(1), exp(hn::Neg(y)));
  return hn::IfThenElse(hn::Lt(y, constant(0.25f)), small, large);
}

// GELU in its tanh form, 0.5 x (1 + tanh(u)) with u = sqrt(2/pi) (x + 0.044715 x^3), is x s with s
// = 1 / (1 + e), e = exp(-2u), 2u = x (a + b x^2), a = 2 sqrt(2/pi) = 1.5957691, b = 0.044715 a =
// 0.071354816.
struct GeluGate {
  V e, s;
};
HWY_INLINE GeluGate gelu_gate(V x) {
  const V square = hn::Mul(x, x);
  const V e = exp(hn::Mul(x, hn::NegMulSub(square, constant(0.071354816f), constant(1.5957691f))));
  return {e, hn::Div(constant(1), hn::Add(constant(1), e))};
}

// d/dx (x s) = s + x s (1 - s) (a + 3 b x^2), and 1 - s = e s without cancellation. Beyond |x| =
// 100 the second term is 0, and the bound keeps it from becoming infinity times 0.
HWY_INLINE V gelu_slope(V x, GeluGate gate) {
  const V near = hn::Min(hn::Max(x, constant(-100)), constant(100));
  const V inner = hn::MulAdd(hn::Mul(near, near), constant(3 * 0.071354816f), constant(1.5957691f));
  const V bend = hn::Mul(hn::Mul(near, inner), hn::Mul(gate.e, gate.s));
  return hn::MulAdd(bend, gate.s, gate.s);
}

}  // namespace linnet::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
