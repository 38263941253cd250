// activations.cpp -- elementwise functions, each one vector expression of simd.h.
#include "kernels/activations.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/activations.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::HWY_NAMESPACE {

// y = f(x), row by row.
template <class F>
HWY_INLINE void map(int64_t rows, int64_t cols, ConstMat x, Mat y, const F& f) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x.row(r);
    float* out = y.row(r);
    for_each_vector(cols, [&](auto load, auto store) HWY_ATTR { store(f(load(in)), out); });
  }
}

// dx = f(x, dy), row by row.
template <class F>
HWY_INLINE void map2(int64_t rows, int64_t cols, ConstMat x, ConstMat dy, Mat dx, const F& f) {
  for (int64_t r = 0; r < rows; ++r) {
    const float *in = x.row(r), *grad = dy.row(r);
    float* out = dx.row(r);
    for_each_vector(cols,
                    [&](auto load, auto store) HWY_ATTR { store(f(load(in), load(grad)), out); });
  }
}

void GeluForward(int64_t rows, int64_t cols, ConstMat x, Mat y) {
  map(rows, cols, x, y, [](V v) HWY_ATTR { return hn::Mul(v, gelu_gate(v).s); });
}

void GeluBackward(int64_t rows, int64_t cols, ConstMat x, ConstMat dy, Mat y, Mat dx) {
  for (int64_t r = 0; r < rows; ++r) {
    const float *in = x.row(r), *grad = dy.row(r);
    float *value = y.data ? y.row(r) : nullptr, *out = dx.row(r);
    for_each_vector(cols, [&](auto load, auto store) HWY_ATTR {
      const V v = load(in), g = load(grad);
      const GeluGate gate = gelu_gate(v);
      if (value) store(hn::Mul(v, gate.s), value);
      store(hn::Mul(g, gelu_slope(v, gate)), out);
    });
  }
}

void SigmoidForward(int64_t rows, int64_t cols, ConstMat x, Mat y) {
  map(rows, cols, x, y, [](V v) HWY_ATTR { return sigmoid(v); });
}

void SigmoidBackward(int64_t rows, int64_t cols, ConstMat y, ConstMat dy, Mat dx) {
  map2(rows, cols, y, dy, dx, [](V v, V g) HWY_ATTR { return hn::Mul(g, hn::NegMulAdd(v, v, v)); });
}

void SoftplusForward(int64_t rows, int64_t cols, ConstMat x, Mat y) {
  map(rows, cols, x, y, [](V v) HWY_ATTR { return softplus(v); });
}

void SoftplusBackward(int64_t rows, int64_t cols, ConstMat y, ConstMat dy, Mat dx) {
  map2(rows, cols, y, dy, dx, [](V v, V g) HWY_ATTR { return hn::Mul(g, one_minus_exp_neg(v)); });
}

void Elu1Forward(int64_t rows, int64_t cols, ConstMat x, Mat y) {
  map(rows, cols, x, y, [](V v) HWY_ATTR {
    const V zero = constant(0);
    return hn::Add(hn::Max(v, zero), exp(hn::Min(v, zero)));
  });
}

void Elu1Backward(int64_t rows, int64_t cols, ConstMat y, ConstMat dy, Mat dx) {
  map2(rows, cols, y, dy, dx,
       [](V v, V g) HWY_ATTR { return hn::Mul(g, hn::Min(v, constant(1))); });
}

void ReluForward(int64_t rows, int64_t cols, ConstMat x, Mat y) {
  map(rows, cols, x, y, [](V v) HWY_ATTR { return hn::Max(v, constant(0)); });
}

void ReluBackward(int64_t rows, int64_t cols, ConstMat y, ConstMat dy, Mat dx) {
  map2(rows, cols, y, dy, dx,
       [](V v, V g) HWY_ATTR { return hn::IfThenElseZero(hn::Gt(v, constant(0)), g); });
}

void SquareForward(int64_t rows, int64_t cols, ConstMat x, Mat y) {
  map(rows, cols, x, y, [](V v) HWY_ATTR { return hn::Mul(v, v); });
}

void SquareBackward(int64_t rows, int64_t cols, ConstMat x, ConstMat dy, Mat dx) {
  map2(rows, cols, x, dy, dx, [](V v, V g) HWY_ATTR { return hn::Mul(g, hn::Add(v, v)); });
}

void Relu2Forward(int64_t rows, int64_t cols, ConstMat x, Mat y) {
  map(rows, cols, x, y, [](V v) HWY_ATTR { return hn::Mul(v, hn::Max(v, constant(0))); });
}

void Relu2Backward(int64_t rows, int64_t cols, ConstMat x, ConstMat dy, Mat dx) {
  map2(rows, cols, x, dy, dx,
       [](V v, V g) HWY_ATTR { return hn::Mul(g, hn::Max(hn::Add(v, v), constant(0))); });
}

void ExpForward(int64_t rows, int64_t cols, ConstMat x, const float* shift, Mat y) {
  for (int64_t r = 0; r < rows; ++r) {
    const V down = constant(shift[r]);
    map(1, cols, x.rows(r), y.rows(r), [&](V v) HWY_ATTR { return exp(hn::Sub(v, down)); });
  }
}

// Two rounds of multiply and xor-shift (the "lowbias32" finaliser) over row key + column: 8 draws
// in about 8 instructions, and regenerated in the backward instead of stored.
void Dropout(int64_t rows, int64_t cols, Mat x, float rate, uint64_t key, int64_t first_row) {
  const Words du;
  const auto threshold =
      hn::Set(du, static_cast<uint32_t>(static_cast<double>(rate) * 2147483648.0));
  const V scale = constant(1.0f / (1.0f - rate));
  const auto step = hn::Set(du, static_cast<uint32_t>(lanes()));
  for (int64_t r = 0; r < rows; ++r) {
    // splitmix64 of the row, so that rows are independent.
    uint64_t z = key + static_cast<uint64_t>(first_row + r + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    auto counter = hn::Iota(du, static_cast<uint32_t>(z));
    const auto salt = hn::Set(du, static_cast<uint32_t>(z >> 32));
    float* row = x.row(r);
    for_each_vector(cols, [&](auto load, auto store) HWY_ATTR {
      auto h = hn::Xor(counter, salt);
      h = hn::Mul(hn::Xor(h, hn::ShiftRight<16>(h)), hn::Set(du, 0x7FEB352Du));
      h = hn::Mul(hn::Xor(h, hn::ShiftRight<15>(h)), hn::Set(du, 0x846CA68Bu));
      h = hn::ShiftRight<1>(hn::Xor(h, hn::ShiftRight<16>(h)));
      const Ints di;
      const auto drop = hn::Lt(hn::BitCast(di, h), hn::BitCast(di, threshold));
      const V kept = hn::Mul(load(row), scale);
      store(hn::IfThenZeroElse(hn::RebindMask(Floats(), drop), kept), row);
      counter = hn::Add(counter, step);
    });
  }
}

}  // namespace linnet::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet {

HWY_EXPORT(GeluForward);
HWY_EXPORT(GeluBackward);
HWY_EXPORT(SigmoidForward);
HWY_EXPORT(SigmoidBackward);
HWY_EXPORT(SoftplusForward);
HWY_EXPORT(SoftplusBackward);
HWY_EXPORT(Elu1Forward);
HWY_EXPORT(Elu1Backward);
HWY_EXPORT(ReluForward);
HWY_EXPORT(ReluBackward);
HWY_EXPORT(SquareForward);
HWY_EXPORT(SquareBackward);
HWY_EXPORT(Relu2Forward);
HWY_EXPORT(Relu2Backward);
HWY_EXPORT(ExpForward);
HWY_EXPORT(Dropout);

void gelu_forward(int64_t rows, int64_t cols, ConstMat x, Mat y) noexcept {
  HWY_DYNAMIC_DISPATCH(GeluForward)(rows, cols, x, y);
}
void gelu_backward(int64_t rows, int64_t cols, ConstMat x, ConstMat dy, Mat y, Mat dx) noexcept {
  HWY_DYNAMIC_DISPATCH(GeluBackward)(rows, cols, x, dy, y, dx);
}
void sigmoid_forward(int64_t rows, int64_t cols, ConstMat x, Mat y) noexcept {
  HWY_DYNAMIC_DISPATCH(SigmoidForward)(rows, cols, x, y);
}
void sigmoid_backward(int64_t rows, int64_t cols, ConstMat y, ConstMat dy, Mat dx) noexcept {
  HWY_DYNAMIC_DISPATCH(SigmoidBackward)(rows, cols, y, dy, dx);
}
void softplus_forward(int64_t rows, int64_t cols, ConstMat x, Mat y) noexcept {
  HWY_DYNAMIC_DISPATCH(SoftplusForward)(rows, cols, x, y);
}
void softplus_backward(int64_t rows, int64_t cols, ConstMat y, ConstMat dy, Mat dx) noexcept {
  HWY_DYNAMIC_DISPATCH(SoftplusBackward)(rows, cols, y, dy, dx);
}
void elu1_forward(int64_t rows, int64_t cols, ConstMat x, Mat y) noexcept {
  HWY_DYNAMIC_DISPATCH(Elu1Forward)(rows, cols, x, y);
}
void elu1_backward(int64_t rows, int64_t cols, ConstMat y, ConstMat dy, Mat dx) noexcept {
  HWY_DYNAMIC_DISPATCH(Elu1Backward)(rows, cols, y, dy, dx);
}
void relu_forward(int64_t rows, int64_t cols, ConstMat x, Mat y) noexcept {
  HWY_DYNAMIC_DISPATCH(ReluForward)(rows, cols, x, y);
}
void relu_backward(int64_t rows, int64_t cols, ConstMat y, ConstMat dy, Mat dx) noexcept {
  HWY_DYNAMIC_DISPATCH(ReluBackward)(rows, cols, y, dy, dx);
}
void square_forward(int64_t rows, int64_t cols, ConstMat x, Mat y) noexcept {
  HWY_DYNAMIC_DISPATCH(SquareForward)(rows, cols, x, y);
}
void square_backward(int64_t rows, int64_t cols, ConstMat x, ConstMat dy, Mat dx) noexcept {
  HWY_DYNAMIC_DISPATCH(SquareBackward)(rows, cols, x, dy, dx);
}
void relu2_forward(int64_t rows, int64_t cols, ConstMat x, Mat y) noexcept {
  HWY_DYNAMIC_DISPATCH(Relu2Forward)(rows, cols, x, y);
}
void relu2_backward(int64_t rows, int64_t cols, ConstMat x, ConstMat dy, Mat dx) noexcept {
  HWY_DYNAMIC_DISPATCH(Relu2Backward)(rows, cols, x, dy, dx);
}
void exp_forward(int64_t rows, int64_t cols, ConstMat x, const float* shift, Mat y) noexcept {
  HWY_DYNAMIC_DISPATCH(ExpForward)(rows, cols, x, shift, y);
}
void dropout(int64_t rows, int64_t cols, Mat x, float rate, uint64_t key,
             int64_t first_row) noexcept {
  HWY_DYNAMIC_DISPATCH(Dropout)(rows, cols, x, rate, key, first_row);
}

}  // namespace linnet
#endif
