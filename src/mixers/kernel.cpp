// kernel.cpp -- kernel attention, linear in the length, with a pluggable feature map phi.
//
// Forward, one head, with u_i = phi(q_i) and w_j = phi(k_j):
//   S = sum_j w_j v_j^T  (F,D)     z = sum_j w_j  (F)
//   n_i = S^T u_i,   d_i = u_i . z + guard,   y_i = n_i / d_i
// Causal: the sums run over j <= i: the state has the chunks before, and inside the chunk
//   A = mask(U W^T),   N += A V,   d += rowsum(A).
// Backward, given dy:
//   dn_i = dy_i / d_i,   e_i = dL/dd_i = -(dy_i . y_i) / d_i
//   du_i = S dn_i + e_i z,      dS += u_i dn_i^T,    dz += e_i u_i        (emit)
//   dw_j = dS v_j + dz,         dv_j = dS^T w_j                           (absorb)
//   causal, inside the chunk: dA = mask(dN V^T + e 1^T),
//   dU += dA W,   dW += dA^T U,   dV += A^T dN                            (emit)
// Without a denominator (kernel-count): y_i = m_i / rms(m_i), m_i = n_i / count, which is the same
// with d_i = sqrt(mean(n_i^2) + eps count^2); then dn_i = (dy_i - (dy_i . y_i) y_i / D) / d_i, e_i
// = 0. Cost: 4 F D a head and token, and phi twice. Saved: U and 1/d, from which y is had again for
// 2 F D. Paper: Katharopoulos et al. 2020; trainable phi: Yorsh and Kovalenko 2022.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/gemm.h"
#include "kernels/rows.h"
#include "layers/linear.h"
#include "mixers/kernel_phi.h"

namespace linnet {
namespace {

void build_by_count(ParamLayout& layout, const std::string& name, MixerPlan& plan) {
  build_phi(layout, name, plan);
  plan.by_count = true;
}

int64_t state_floats(const MixerPlan& plan, int64_t) {
  return plan.heads * plan.phi.out * (plan.head + 1);
}

int64_t saved_floats(const MixerPlan& plan) { return plan.key_width + plan.heads; }

// The two parts of a state, by head.
float* sums(const MixerPlan& plan, const MixerState& s, int64_t h) {
  return s.data + h * plan.phi.out * plan.head;
}
float* norms(const MixerPlan& plan, const MixerState& s, int64_t h) {
  return s.data + plan.heads * plan.phi.out * plan.head + h * plan.phi.out;
}

void absorb(const MixerRun& run, const MixerChunk& chunk, MixerState& state) {
  const MixerPlan& plan = run.plan;
  const int64_t F = plan.phi.out, D = plan.head;
  for (int64_t h = 0; h < plan.heads; ++h) {
    const ConstMat w = chunk.keys.columns(h * F), v = chunk.v.columns(h * D);
    gemm(F, D, chunk.rows, columns_of(w.data, w.ld), plain(v.data, v.ld), sums(plan, state, h), D,
         nullptr, true);
    add_column_sums(chunk.rows, F, w, norms(plan, state, h));
  }
  state.count += chunk.rows;
}

void merge(const MixerPlan& plan, const MixerState& other, MixerState& state) {
  add(state_floats(plan, 0), other.data, state.data);
  state.count += other.count;
}

// mask(A): zero above the diagonal.
void mask_triangle(int64_t rows, Mat a) {
  for (int64_t i = 0; i < rows; ++i) std::fill(a.row(i) + i + 1, a.row(i) + rows, 0.0f);
}

// [rows, rows] = x y^T for x, y [rows, cols], zero above the diagonal, plus bias_i in row i where
// given.
Mat triangle(Arena& scratch, int64_t rows, int64_t cols, ConstMat x, ConstMat y,
             const float* row_bias) {
  float* panels = scratch.take(packed_floats(cols, rows));
  const Mat a = take_mat(scratch, rows, rows);
  pack_transposed(cols, rows, y.data, y.ld, panels);
  gemm(rows, rows, cols, rows_of(x.data, x.ld), packed(panels, cols), a.data, a.ld);
  for (int64_t i = 0; row_bias && i < rows; ++i) {
    for (int64_t j = 0; j <= i; ++j) a.row(i)[j] += row_bias[i];
  }
  mask_triangle(rows, a);
  return a;
}

// sqrt(mean(n^2) + eps count^2) for row i, from the sum of squares.
float spread(const MixerRun& run, const MixerChunk& chunk, const MixerState& state, int64_t i,
             float squares) {
  const auto count = static_cast<float>(tokens_seen(run.plan, chunk, state, i));
  return std::sqrt(squares / static_cast<float>(run.plan.head) + kKernelCountEps * count * count);
}

// y = n / d from U in `saved`; 1/d is saved too, or taken from there when y is wanted again.
void answer(const MixerRun& run, const MixerChunk& chunk, const MixerState& state, Mat saved, Mat y,
            bool again) {
  const MixerPlan& plan = run.plan;
  const int64_t F = plan.phi.out, D = plan.head, rows = chunk.rows;
  Arena::Scope scope(run.scratch);
  float* d = run.scratch.take(rows);
  for (int64_t h = 0; h < plan.heads; ++h) {
    const ConstMat u = saved.columns(h * F);
    const Mat n = y.columns(h * D);
    gemm(rows, D, F, rows_of(u.data, u.ld), plain(sums(plan, state, h), D), n.data, n.ld);
    if (!again && !plan.by_count) row_dots(rows, F, u, {norms(plan, state, h), 0}, d);
    if (plan.causal) {
      Arena::Scope inner(run.scratch);
      const ConstMat v = chunk.v.columns(h * D);
      const Mat a = triangle(run.scratch, rows, F, u, chunk.keys.columns(h * F), nullptr);
      gemm(rows, D, rows, rows_of(a.data, a.ld), plain(v.data, v.ld), n.data, n.ld, nullptr, true);
      for (int64_t i = 0; !again && i < rows; ++i)
        d[i] = std::accumulate(a.row(i), a.row(i) + i + 1, d[i]);
    }
    if (!again && plan.by_count) row_dots(rows, D, n, n, d);
    for (int64_t i = 0; i < rows; ++i) {
      float& inverse = saved.row(i)[plan.key_width + h];
      if (!again)
        inverse = 1 / (plan.by_count ? spread(run, chunk, state, i, d[i]) : d[i] + kKernelGuard);
      d[i] = inverse;
    }
    scale_rows(rows, D, n, d, n);
  }
}

void emit(const MixerRun& run, const MixerChunk& chunk, const MixerState& state, Mat saved, Mat y) {
  phi_of_queries(run, chunk, saved);
  answer(run, chunk, state, saved, y, false);
}

void emit_again(const MixerRun& run, const MixerChunk& chunk, const MixerState& state, Mat saved,
                Mat y) {
  answer(run, chunk, state, saved, y, true);
}

void emit_backward(const MixerRun& run, const MixerChunk& chunk, const MixerState& state,
                   ConstMat saved, ConstMat y, ConstMat dy, MixerState& dstate,
                   const MixerGrads& grads) {
  const MixerPlan& plan = run.plan;
  const int64_t F = plan.phi.out, D = plan.head, rows = chunk.rows;
  Arena::Scope scope(run.scratch);
  const Mat dphi = take_mat(run.scratch, rows, plan.key_width);
  const Mat dn = take_mat(run.scratch, rows, D);
  float* e = run.scratch.take(rows);
  float* panels = run.scratch.take(packed_floats(D, F));
  for (int64_t h = 0; h < plan.heads; ++h) {
    const ConstMat u = saved.columns(h * F);
    const Mat du = dphi.columns(h * F);
    quotient_backward(run, rows, h, saved, y, dy, dn, e);
    for (int64_t i = 0; plan.by_count && i < rows; ++i) {
      add_scaled(D, e[i] / static_cast<float>(D), y.row(i) + h * D, dn.row(i));
      e[i] = 0;
    }
    // n = S^T u and d = u . z, so du = S dn + e z, dS += u dn^T, dz += e u.
    pack_transposed(D, F, sums(plan, state, h), D, panels);
    gemm(rows, F, D, rows_of(dn.data, dn.ld), packed(panels, D), du.data, du.ld);
    add_outer(rows, F, e, norms(plan, state, h), du);
    gemm(F, D, rows, columns_of(u.data, u.ld), plain(dn.data, dn.ld), sums(plan, dstate, h), D,
         nullptr, true);
    add_weighted_rows(rows, F, e, u, norms(plan, dstate, h));
    if (plan.causal) {
      Arena::Scope inner(run.scratch);
      const ConstMat w = chunk.keys.columns(h * F), v = chunk.v.columns(h * D);
      const Mat dw = grads.dkeys.columns(h * F), dv = grads.dv.columns(h * D);
      const Mat a = triangle(run.scratch, rows, F, u, w, nullptr);
      const Mat da = triangle(run.scratch, rows, D, dn, v, e);
      // N += A V and A = mask(U W^T), so:
      gemm(rows, D, rows, columns_of(a.data, a.ld), plain(dn.data, dn.ld), dv.data, dv.ld, nullptr,
           true);
      gemm(rows, F, rows, rows_of(da.data, da.ld), plain(w.data, w.ld), du.data, du.ld, nullptr,
           true);
      gemm(rows, F, rows, columns_of(da.data, da.ld), plain(u.data, u.ld), dw.data, dw.ld, nullptr,
           true);
    }
  }
  phi_of_queries_backward(run, chunk, saved, dphi, grads.dq, grads.params);
}

void absorb_backward(const MixerRun& run, const MixerChunk& chunk, const MixerState&,
                     const MixerState& dstate, const MixerGrads& grads) {
  const MixerPlan& plan = run.plan;
  const int64_t F = plan.phi.out, D = plan.head, rows = chunk.rows;
  Arena::Scope scope(run.scratch);
  float* panels = run.scratch.take(packed_floats(D, F));
  for (int64_t h = 0; h < plan.heads; ++h) {
    const float* ds = sums(plan, dstate, h);
    const ConstMat w = chunk.keys.columns(h * F), v = chunk.v.columns(h * D);
    const Mat dw = grads.dkeys.columns(h * F), dv = grads.dv.columns(h * D);
    // S += w v^T and z += w, so dw = dS v + dz and dv = dS^T w.
    pack_transposed(D, F, ds, D, panels);
    gemm(rows, F, D, rows_of(v.data, v.ld), packed(panels, D), dw.data, dw.ld,
         norms(plan, dstate, h));
    gemm(rows, D, F, rows_of(w.data, w.ld), plain(ds, D), dv.data, dv.ld);
  }
}

MixerFlops flops(const MixerPlan& plan, int64_t) {
  const double product = 2.0 * static_cast<double>(plan.heads * plan.phi.out * plan.head);
  return {product, product};
}

void reference(const MixerPlan& plan, const Complex* params, int64_t T, const Complex* q,
               const Complex* k, const Complex* v, Complex* y) {
  kernel_reference(plan, params, T, q, k, v, {}, y);
}

// The kinds differ in who chooses phi, and in the denominator.
constexpr Mixer kernel_kind(std::string_view name, std::string_view formula,
                            std::string_view summary, std::string_view paper, std::string_view phi,
                            bool by_count = false) {
  return {.name = name,
          .formula = formula,
          .summary = summary,
          .paper = paper,
          .cost = "O(T F D)",
          .state = "O(F D)",
          .uses_q = true,
          .uses_k = true,
          .uses_feature = true,
          .causal = true,
          .grows = false,
          .averages = !by_count,
          .phi = phi,
          .build = by_count ? build_by_count : build_phi,
          .state_floats = state_floats,
          .saved_floats = saved_floats,
          .prepare = phi_of_keys,
          .prepare_backward = phi_of_keys_backward,
          .absorb = absorb,
          .merge = merge,
          .emit = emit,
          .emit_again = emit_again,
          .emit_backward = emit_backward,
          .absorb_backward = absorb_backward,
          .flops = flops,
          .reference = reference};
}

}  // namespace

extern const Mixer kKernelMixer = kernel_kind(
    "kernel", "y_i = S^T phi(q_i) / (phi(q_i) . z),  S = sum phi(k_j) v_j^T,  z = sum phi(k_j)",
    "kernel attention with any phi, trainable or fixed: the default for long sequences",
    "Katharopoulos et al. 2020; Yorsh and Kovalenko 2022", "");
extern const Mixer kKernelCountMixer =
    kernel_kind("kernel-count", "y_i = m_i / rms(m_i),  m_i = S^T phi(q_i) / count",
                "kernel attention without a denominator: steadier where phi is small or has signs",
                "Qin et al. 2022", "", true);
extern const Mixer kPerformerMixer =
    kernel_kind("performer", "kernel with phi = favor",
                "softmax attention estimated by random features: no training of phi",
                "Choromanski et al. 2021", "favor");
extern const Mixer kLinearTransformerMixer =
    kernel_kind("linear-transformer", "kernel with phi = elu(x) + 1",
                "the plainest kernel attention: the baseline of every other phi",
                "Katharopoulos et al. 2020", "elu1");

}  // namespace linnet
