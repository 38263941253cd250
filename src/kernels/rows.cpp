// rows.cpp -- sums, scalings and LayerNorm over rows, one source for all CPU targets.
#include "kernels/rows.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::HWY_NAMESPACE {

void AddScaled(int64_t n, float a, const float* x, float* y) {
  const V factor = constant(a);
  for_each_vector(
      n, [&](auto load, auto store) HWY_ATTR { store(hn::MulAdd(factor, load(x), load(y)), y); });
}

void Scale(int64_t n, float a, float* y) {
  const V factor = constant(a);
  for_each_vector(n, [&](auto load, auto store) HWY_ATTR { store(hn::Mul(factor, load(y)), y); });
}

void Approach(int64_t n, float a, const float* x, float* y) {
  const V factor = constant(a);
  for_each_vector(n, [&](auto load, auto store) HWY_ATTR {
    const V old = load(y);
    store(hn::MulAdd(factor, hn::Sub(load(x), old), old), y);
  });
}

// Partial sums of 256 floats in vectors, the partials in double.
double SumOfSquares(int64_t n, const float* x) {
  double total = 0;
  for (int64_t i = 0; i < n; i += 256) {
    const float* part = x + i;
    total += sum_over(std::min<int64_t>(256, n - i), [&](auto load) HWY_ATTR {
      const V v = load(part);
      return hn::Mul(v, v);
    });
  }
  return total;
}

void AddRows(int64_t rows, int64_t cols, ConstMat x, Mat y) {
  for (int64_t r = 0; r < rows; ++r) AddScaled(cols, 1.0f, x.row(r), y.row(r));
}

// The rows of a chunk are summed in a register and then added: the running sum of a long sequence
// rounds once a chunk, not once a token.
void AddColumnSums(int64_t rows, int64_t cols, ConstMat x, float* out) {
  for_each_vector(cols, [&](auto load, auto store) HWY_ATTR {
    V sum0 = constant(0), sum1 = sum0;
    int64_t r = 0;
    for (; r + 2 <= rows; r += 2) {
      sum0 = hn::Add(sum0, load(x.row(r)));
      sum1 = hn::Add(sum1, load(x.row(r + 1)));
    }
    if (r < rows) sum0 = hn::Add(sum0, load(x.row(r)));
    store(hn::Add(load(out), hn::Add(sum0, sum1)), out);
  });
}

void ColumnMax(int64_t rows, int64_t cols, ConstMat x, float* out) {
  for_each_vector(cols, [&](auto load, auto store) HWY_ATTR {
    V largest = load(x.row(0));
    for (int64_t r = 1; r < rows; ++r) largest = hn::Max(largest, load(x.row(r)));
    store(largest, out);
  });
}

void ColumnMaxBackward(int64_t rows, int64_t cols, ConstMat x, const float* largest,
                       const float* dy, Mat dx) {
  for_each_vector(cols, [&](auto load, auto store) HWY_ATTR {
    const V top = load(largest);
    V left = load(dy);  // of the columns whose row is still to come
    for (int64_t r = 0; r < rows; ++r) {
      const auto here = hn::Eq(load(x.row(r)), top);
      if (hn::AllFalse(Floats(), here)) continue;
      store(hn::Add(load(dx.row(r)), hn::IfThenElseZero(here, left)), dx.row(r));
      left = hn::IfThenZeroElse(here, left);
    }
  });
}

void AddWeightedRows(int64_t rows, int64_t cols, const float* weight, ConstMat x, float* out) {
  for (int64_t r = 0; r < rows; ++r) AddScaled(cols, weight[r], x.row(r), out);
}

void AddOuter(int64_t rows, int64_t cols, const float* weight, const float* x, Mat y) {
  for (int64_t r = 0; r < rows; ++r) AddScaled(cols, weight[r], x, y.row(r));
}

void RowDots(int64_t rows, int64_t cols, ConstMat x, ConstMat y, float* out) {
  for (int64_t r = 0; r < rows; ++r) {
    const float *a = x.row(r), *b = y.row(r);
    out[r] = sum_over(cols, [&](auto load) HWY_ATTR { return hn::Mul(load(a), load(b)); });
  }
}

void ScaleRows(int64_t rows, int64_t cols, ConstMat x, const float* factor, Mat y) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x.row(r);
    float* out = y.row(r);
    const V f = constant(factor[r]);
    for_each_vector(cols,
                    [&](auto load, auto store) HWY_ATTR { store(hn::Mul(load(in), f), out); });
  }
}

// Rows whose moments are computed together: a root and a division take some twenty cycles each,
// alone as well as for a whole vector.
constexpr int64_t kMomentRows = 16;

struct Moments {
  float mean[kMomentRows], rstd[kMomentRows];
};

// Of at most kMomentRows rows.
HWY_INLINE void moments(int64_t rows, int64_t cols, ConstMat x, float eps, Moments& m) {
  const float n = static_cast<float>(cols);
  // Whole vectors, then the tail by itself: padding with zeros would count mean^2 each.
  const int64_t whole = cols - cols % lanes();
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x.row(r);
    const float mean = sum_over(cols, [&](auto load) HWY_ATTR { return load(in); }) / n;
    const V center = constant(mean);
    float squares = sum_over(whole, [&](auto load) HWY_ATTR {
      const V v = hn::Sub(load(in), center);
      return hn::Mul(v, v);
    });
    for (int64_t i = whole; i < cols; ++i) squares += (in[i] - mean) * (in[i] - mean);
    m.mean[r] = mean;
    m.rstd[r] = squares;
  }
  for_each_vector(rows, [&](auto load, auto store) HWY_ATTR {
    const V variance = hn::Add(hn::Div(load(m.rstd), constant(n)), constant(eps));
    store(hn::Div(constant(1), hn::Sqrt(variance)), m.rstd);
  });
}

// body(r, mean, rstd) for every row.
template <class Body>
HWY_INLINE void for_each_normed(int64_t rows, int64_t cols, ConstMat x, float eps,
                                const Body& body) {
  Moments m;
  for (int64_t at = 0; at < rows; at += kMomentRows) {
    const int64_t some = std::min(kMomentRows, rows - at);
    moments(some, cols, x.rows(at), eps, m);
    for (int64_t r = 0; r < some; ++r) body(at + r, m.mean[r], m.rstd[r]);
  }
}

void LayerNormForward(int64_t rows, int64_t cols, ConstMat x, const float* weight,
                      const float* bias, float eps, Mat y) {
  for_each_normed(rows, cols, x, eps, [&](int64_t r, float mean, float scale) HWY_ATTR {
    const float* in = x.row(r);
    float* out = y.row(r);
    const V rstd = constant(scale), shift = constant(-mean * scale);
    for_each_vector(cols, [&](auto load, auto store) HWY_ATTR {
      const V xhat = hn::MulAdd(load(in), rstd, shift);
      store(hn::MulAdd(xhat, load(weight), load(bias)), out);
    });
  });
}

void LayerNormBackward(int64_t rows, int64_t cols, ConstMat x, const float* weight, float eps,
                       ConstMat dy, Mat dx, float* dweight, float* dbias) {
  const float n = static_cast<float>(cols);
  for_each_normed(rows, cols, x, eps, [&](int64_t r, float mean, float scale) HWY_ATTR {
    const float *in = x.row(r), *grad = dy.row(r);
    float* out = dx.row(r);
    const V rstd = constant(scale), shift = constant(-mean * scale);
    // y = xhat weight + bias, so:
    for_each_vector(cols, [&](auto load, auto store) HWY_ATTR {
      const V xhat = hn::MulAdd(load(in), rstd, shift), g = load(grad);
      store(hn::MulAdd(g, xhat, load(dweight)), dweight);
      store(hn::Add(g, load(dbias)), dbias);
    });
    // Both sums are zero on a tail of zeros since g is.
    const float mean_g =
        sum_over(cols, [&](auto load) HWY_ATTR { return hn::Mul(load(grad), load(weight)); }) / n;
    const float mean_gx = sum_over(cols,
                                   [&](auto load) HWY_ATTR {
                                     const V xhat = hn::MulAdd(load(in), rstd, shift);
                                     return hn::Mul(hn::Mul(load(grad), load(weight)), xhat);
                                   }) /
                          n;
    const V a = constant(mean_g), b = constant(mean_gx);
    for_each_vector(cols, [&](auto load, auto store) HWY_ATTR {
      const V xhat = hn::MulAdd(load(in), rstd, shift);
      const V inner = hn::Sub(hn::NegMulAdd(xhat, b, hn::Mul(load(grad), load(weight))), a);
      store(hn::MulAdd(inner, rstd, load(out)), out);
    });
  });
}

}  // namespace linnet::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet {

HWY_EXPORT(AddScaled);
HWY_EXPORT(Scale);
HWY_EXPORT(Approach);
HWY_EXPORT(SumOfSquares);
HWY_EXPORT(AddRows);
HWY_EXPORT(AddColumnSums);
HWY_EXPORT(ColumnMax);
HWY_EXPORT(ColumnMaxBackward);
HWY_EXPORT(AddWeightedRows);
HWY_EXPORT(AddOuter);
HWY_EXPORT(RowDots);
HWY_EXPORT(ScaleRows);
HWY_EXPORT(LayerNormForward);
HWY_EXPORT(LayerNormBackward);

void add(int64_t n, const float* x, float* y) noexcept { add_scaled(n, 1.0f, x, y); }
void add_scaled(int64_t n, float a, const float* x, float* y) noexcept {
  HWY_DYNAMIC_DISPATCH(AddScaled)(n, a, x, y);
}
void scale(int64_t n, float a, float* y) noexcept { HWY_DYNAMIC_DISPATCH(Scale)(n, a, y); }
void approach(int64_t n, float a, const float* x, float* y) noexcept {
  HWY_DYNAMIC_DISPATCH(Approach)(n, a, x, y);
}
void add_rows(int64_t rows, int64_t cols, ConstMat x, Mat y) noexcept {
  HWY_DYNAMIC_DISPATCH(AddRows)(rows, cols, x, y);
}
void copy_rows(int64_t rows, int64_t cols, ConstMat x, Mat y) noexcept {
  for (int64_t r = 0; r < rows; ++r) {
    std::memcpy(y.row(r), x.row(r), static_cast<size_t>(cols) * sizeof(float));
  }
}
double sum_of_squares(int64_t n, const float* x) noexcept {
  return HWY_DYNAMIC_DISPATCH(SumOfSquares)(n, x);
}
void add_column_sums(int64_t rows, int64_t cols, ConstMat x, float* out) noexcept {
  HWY_DYNAMIC_DISPATCH(AddColumnSums)(rows, cols, x, out);
}
void column_max(int64_t rows, int64_t cols, ConstMat x, float* out) noexcept {
  HWY_DYNAMIC_DISPATCH(ColumnMax)(rows, cols, x, out);
}
void column_max_backward(int64_t rows, int64_t cols, ConstMat x, const float* largest,
                         const float* dy, Mat dx) noexcept {
  HWY_DYNAMIC_DISPATCH(ColumnMaxBackward)(rows, cols, x, largest, dy, dx);
}
void add_weighted_rows(int64_t rows, int64_t cols, const float* weight, ConstMat x,
                       float* out) noexcept {
  HWY_DYNAMIC_DISPATCH(AddWeightedRows)(rows, cols, weight, x, out);
}
void add_outer(int64_t rows, int64_t cols, const float* weight, const float* x, Mat y) noexcept {
  HWY_DYNAMIC_DISPATCH(AddOuter)(rows, cols, weight, x, y);
}
void row_dots(int64_t rows, int64_t cols, ConstMat x, ConstMat y, float* out) noexcept {
  HWY_DYNAMIC_DISPATCH(RowDots)(rows, cols, x, y, out);
}
void scale_rows(int64_t rows, int64_t cols, ConstMat x, const float* factor, Mat y) noexcept {
  HWY_DYNAMIC_DISPATCH(ScaleRows)(rows, cols, x, factor, y);
}
void layer_norm_forward(int64_t rows, int64_t cols, ConstMat x, const float* weight,
                        const float* bias, float eps, Mat y) noexcept {
  HWY_DYNAMIC_DISPATCH(LayerNormForward)(rows, cols, x, weight, bias, eps, y);
}
void layer_norm_backward(int64_t rows, int64_t cols, ConstMat x, const float* weight, float eps,
                         ConstMat dy, Mat dx, float* dweight, float* dbias) noexcept {
  HWY_DYNAMIC_DISPATCH(LayerNormBackward)(rows, cols, x, weight, eps, dy, dx, dweight, dbias);
}

}  // namespace linnet
#endif
