// decayed_sums.cpp -- products of kernel attention with a power of the decay in every row.
#include "mixers/decayed_sums.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/decay.h"
#include "kernels/gemm.h"
#include "kernels/rows.h"
#include "layers/linear.h"

namespace linnet {
namespace {

// sum_i exponent_i (x_i . dx_i), x and dx [rows, cols].
double exponent_gradient(Arena& scratch, const RowPowers& p, int64_t cols, ConstMat x,
                         ConstMat dx) {
  Arena::Scope scope(scratch);
  float* dots = scratch.take(p.rows);
  row_dots(p.rows, cols, x, dx, dots);
  double total = 0;
  for (int64_t i = 0; i < p.rows; ++i) total += static_cast<double>(p.exponent(i)) * dots[i];
  return total;
}

// [rows, keys] = x y^T.
Mat inside_products(const MixerRun& run, const Inside& in, int64_t cols, ConstMat x, ConstMat y) {
  float* panels = run.scratch.take(packed_floats(cols, in.keys));
  const Mat a = take_mat(run.scratch, in.rows, in.keys);
  pack_transposed(cols, in.keys, y.data, y.ld, panels);
  gemm(in.rows, in.keys, cols, rows_of(x.data, x.ld), packed(panels, cols), a.data, a.ld);
  return a;
}

}  // namespace

Powers::Powers(Arena& scratch, double log_of_g, int64_t reach, bool causal)
    : log_g(log_of_g),
      around(scratch.take(2 * reach + 1) + reach),
      distance(scratch.take(2 * reach + 1) + reach) {
  const double g = std::exp(log_g);
  double power = 1;
  for (int64_t n = 0; n <= reach; ++n, power *= g) {
    around[n] = causal && n > 0 ? 0.0f : static_cast<float>(power);
    around[-n] = static_cast<float>(power);
    distance[n] = distance[-n] = static_cast<float>(n);
  }
}

RowPowers::RowPowers(Arena& scratch, const Powers& powers, int64_t n, int64_t start,
                     int64_t direction)
    : rows(n), from(start), step(direction), factor(scratch.take(n)) {
  for (int64_t i = 0; i < n; ++i) factor[i] = powers.of(exponent(i));
}

void sum_up(const MixerRun& run, const RowPowers& p, ConstMat w, ConstMat v, Sums to) {
  const int64_t F = run.plan.phi.out, D = run.plan.head;
  Arena::Scope scope(run.scratch);
  const Mat scaled = take_mat(run.scratch, p.rows, F);
  scale_rows(p.rows, F, w, p.factor, scaled);
  gemm(F, D, p.rows, columns_of(scaled.data, scaled.ld), plain(v.data, v.ld), to.s, D, nullptr,
       true);
  add_column_sums(p.rows, F, scaled, to.z);
}

// dw_j += p_j (dS v_j + dz), dv_j += p_j dS^T w_j.
double sum_up_backward(const MixerRun& run, const RowPowers& p, ConstMat w, ConstMat v, Sums owed,
                       Mat dw, Mat dv) {
  const int64_t F = run.plan.phi.out, D = run.plan.head;
  Arena::Scope scope(run.scratch);
  float* panels = run.scratch.take(packed_floats(D, F));
  const Mat part = take_mat(run.scratch, p.rows, std::max(F, D));
  pack_transposed(D, F, owed.s, D, panels);
  gemm(p.rows, F, D, rows_of(v.data, v.ld), packed(panels, D), part.data, part.ld, owed.z);
  scale_rows(p.rows, F, part, p.factor, part);
  add_rows(p.rows, F, part, dw);
  const double dl = exponent_gradient(run.scratch, p, F, w, part);
  scale_rows(p.rows, F, w, p.factor, part);
  gemm(p.rows, D, F, rows_of(part.data, part.ld), plain(owed.s, D), dv.data, dv.ld, nullptr, true);
  return dl;
}

void look_up(const MixerRun& run, const RowPowers& p, ConstMat u, Sums from, Mat n, float* d) {
  const int64_t F = run.plan.phi.out, D = run.plan.head;
  Arena::Scope scope(run.scratch);
  const Mat scaled = take_mat(run.scratch, p.rows, F);
  float* dots = run.scratch.take(p.rows);
  scale_rows(p.rows, F, u, p.factor, scaled);
  gemm(p.rows, D, F, rows_of(scaled.data, scaled.ld), plain(from.s, D), n.data, n.ld, nullptr,
       true);
  row_dots(p.rows, F, scaled, {from.z, 0}, dots);
  add(p.rows, dots, d);
}

// du_i += p_i (S dn_i + e_i z), dS += p_i u_i dn_i^T, dz += p_i e_i u_i.
double look_up_backward(const MixerRun& run, const RowPowers& p, ConstMat u, Sums from, ConstMat dn,
                        const float* e, Mat du, Sums owed) {
  const int64_t F = run.plan.phi.out, D = run.plan.head;
  Arena::Scope scope(run.scratch);
  float* panels = run.scratch.take(packed_floats(D, F));
  const Mat part = take_mat(run.scratch, p.rows, F);
  pack_transposed(D, F, from.s, D, panels);
  gemm(p.rows, F, D, rows_of(dn.data, dn.ld), packed(panels, D), part.data, part.ld);
  add_outer(p.rows, F, e, from.z, part);
  scale_rows(p.rows, F, part, p.factor, part);
  add_rows(p.rows, F, part, du);
  const double dl = exponent_gradient(run.scratch, p, F, u, part);
  scale_rows(p.rows, F, u, p.factor, part);
  gemm(F, D, p.rows, columns_of(part.data, part.ld), plain(dn.data, dn.ld), owed.s, D, nullptr,
       true);
  add_weighted_rows(p.rows, F, e, part, owed.z);
  return dl;
}

void inside_forward(const MixerRun& run, const Inside& in, const Powers& powers, ConstMat u,
                    ConstMat w, ConstMat v, Mat n, float* d) {
  const int64_t F = run.plan.phi.out, D = run.plan.head;
  Arena::Scope scope(run.scratch);
  const Mat a = inside_products(run, in, F, u, w);
  decay_products(in.rows, in.keys, in.offset, powers.around, a, d);
  gemm(in.rows, D, in.keys, rows_of(a.data, a.ld), plain(v.data, v.ld), n.data, n.ld, nullptr,
       true);
}

// dV += A^T dN, dA = dN V^T + e, dU += (dA * G) W,
// dW += (dA * G)^T U, dl = sum |i-j| A dA.
double inside_backward(const MixerRun& run, const Inside& in, const Powers& powers, ConstMat u,
                       ConstMat w, ConstMat v, ConstMat dn, const float* e, Mat du, Mat dw,
                       Mat dv) {
  const int64_t F = run.plan.phi.out, D = run.plan.head;
  Arena::Scope scope(run.scratch);
  float* sums = run.scratch.take_zeroed(in.rows);
  const Mat a = inside_products(run, in, F, u, w), da = inside_products(run, in, D, dn, v);
  decay_products(in.rows, in.keys, in.offset, powers.around, a, sums);
  decay_products_backward(in.rows, in.keys, in.offset, powers.around, powers.distance, a, e, da,
                          sums);
  gemm(in.keys, D, in.rows, columns_of(a.data, a.ld), plain(dn.data, dn.ld), dv.data, dv.ld,
       nullptr, true);
  gemm(in.rows, F, in.keys, rows_of(da.data, da.ld), plain(w.data, w.ld), du.data, du.ld, nullptr,
       true);
  gemm(in.keys, F, in.rows, columns_of(da.data, da.ld), plain(u.data, u.ld), dw.data, dw.ld,
       nullptr, true);
  return std::accumulate(sums, sums + in.rows, 0.0);
}

}  // namespace linnet
