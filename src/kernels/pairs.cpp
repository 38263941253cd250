// pairs.cpp -- gates and products, each one vector expression.
#include "kernels/pairs.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pairs.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::HWY_NAMESPACE {

// A value and its two derivatives.
struct Jet {
  V y, da, db;
};

// s (1 - s) for a sigmoid s.
HWY_INLINE V slope(V s) { return hn::NegMulAdd(s, s, s); }

template <Pair kPair>
HWY_INLINE Jet evaluate(V a, V b) {
  if constexpr (kPair == Pair::product) {
    return {hn::Mul(a, b), b, a};
  } else if constexpr (kPair == Pair::softplus_product) {
    const V product = hn::Mul(a, b), s = sigmoid(product);
    return {softplus(product), hn::Mul(s, b), hn::Mul(s, a)};
  } else if constexpr (kPair == Pair::glu) {
    const V s = sigmoid(b);
    return {hn::Mul(a, s), s, hn::Mul(a, slope(s))};
  } else if constexpr (kPair == Pair::positive_glu) {
    const V s = sigmoid(b), value = softplus(a);
    return {hn::Mul(value, s), hn::Mul(sigmoid(a), s), hn::Mul(value, slope(s))};
  } else {
    const V s = sigmoid(a), silu = hn::Mul(a, s);
    return {hn::Mul(silu, b), hn::Mul(b, hn::MulAdd(a, slope(s), s)), silu};
  }
}

template <Pair kPair>
void forward(int64_t rows, int64_t cols, ConstMat a, ConstMat b, Mat y) {
  for (int64_t r = 0; r < rows; ++r) {
    const float *left = a.row(r), *right = b.row(r);
    float* out = y.row(r);
    for_each_vector(cols, [&](auto load, auto store)
                              HWY_ATTR { store(evaluate<kPair>(load(left), load(right)).y, out); });
  }
}

template <Pair kPair>
void backward(int64_t rows, int64_t cols, ConstMat a, ConstMat b, ConstMat dy, Mat y, Mat da,
              Mat db) {
  for (int64_t r = 0; r < rows; ++r) {
    const float *left = a.row(r), *right = b.row(r), *grad = dy.row(r);
    float *value = y.data ? y.row(r) : nullptr, *dleft = da.row(r), *dright = db.row(r);
    for_each_vector(cols, [&](auto load, auto store) HWY_ATTR {
      const V g = load(grad);
      const Jet jet = evaluate<kPair>(load(left), load(right));
      if (value) store(jet.y, value);
      store(hn::Mul(g, jet.da), dleft);
      store(hn::Mul(g, jet.db), dright);
    });
  }
}

void PairForward(Pair f, int64_t rows, int64_t cols, const ConstMat& a, const ConstMat& b,
                 const Mat& y) {
  switch (f) {
    case Pair::product:
      return forward<Pair::product>(rows, cols, a, b, y);
    case Pair::softplus_product:
      return forward<Pair::softplus_product>(rows, cols, a, b, y);
    case Pair::glu:
      return forward<Pair::glu>(rows, cols, a, b, y);
    case Pair::positive_glu:
      return forward<Pair::positive_glu>(rows, cols, a, b, y);
    case Pair::swiglu:
      return forward<Pair::swiglu>(rows, cols, a, b, y);
  }
}

void PairBackward(Pair f, int64_t rows, int64_t cols, const ConstMat& a, const ConstMat& b,
                  const ConstMat& dy, const Mat& y, const Mat& da, const Mat& db) {
  switch (f) {
    case Pair::product:
      return backward<Pair::product>(rows, cols, a, b, dy, y, da, db);
    case Pair::softplus_product:
      return backward<Pair::softplus_product>(rows, cols, a, b, dy, y, da, db);
    case Pair::glu:
      return backward<Pair::glu>(rows, cols, a, b, dy, y, da, db);
    case Pair::positive_glu:
      return backward<Pair::positive_glu>(rows, cols, a, b, dy, y, da, db);
    case Pair::swiglu:
      return backward<Pair::swiglu>(rows, cols, a, b, dy, y, da, db);
  }
}

}  // namespace linnet::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet {

HWY_EXPORT(PairForward);
HWY_EXPORT(PairBackward);

void pair_forward(Pair f, int64_t rows, int64_t cols, ConstMat a, ConstMat b, Mat y) noexcept {
  HWY_DYNAMIC_DISPATCH(PairForward)(f, rows, cols, a, b, y);
}
void pair_backward(Pair f, int64_t rows, int64_t cols, ConstMat a, ConstMat b, ConstMat dy, Mat y,
                   Mat da, Mat db) noexcept {
  HWY_DYNAMIC_DISPATCH(PairBackward)(f, rows, cols, a, b, dy, y, da, db);
}

std::complex<double> exact_pair(Pair f, std::complex<double> a, std::complex<double> b) {
  using Complex = std::complex<double>;
  const auto sigmoid = [](Complex x) { return 1.0 / (1.0 + std::exp(-x)); };
  const auto softplus = [](Complex x) {
    return x.real() > 0 ? x + std::log(1.0 + std::exp(-x)) : std::log(1.0 + std::exp(x));
  };
  switch (f) {
    case Pair::product:
      return a * b;
    case Pair::softplus_product:
      return softplus(a * b);
    case Pair::glu:
      return a * sigmoid(b);
    case Pair::positive_glu:
      return softplus(a) * sigmoid(b);
    case Pair::swiglu:
      return a * sigmoid(a) * b;
  }
  return 0;
}

}  // namespace linnet
#endif
