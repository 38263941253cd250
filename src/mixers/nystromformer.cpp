// nystromformer.cpp -- softmax attention by way of at most 64 landmarks.
//
// The T tokens are cut into m = min(64, T) segments as even as possible: segment s has the tokens
// [s T / m, (s+1) T / m). Forward, with Ql, Kl (m,C) the segments' means of q and k, head by head:
//   A = softmax(Ql Kl^T / sqrt(D))  (m,m)     Z ~ A^+  (m,m)        by pseudo_inverse.cpp
//   W = softmax(Ql K^T / sqrt(D)) V  (m,D)    M = Z W  (m,D)        once all is absorbed
//   y_i = sum_s softmax_s(q_i . Kl_s / sqrt(D)) M_s
// Backward: W and y are exact attention, of the m queries Ql to all tokens and of all tokens to the
// m keys Kl (softmax.cpp): y gives dq, dKl and dM; then
//   dZ = dM W^T,   dW = Z^T dM;   W gives dQl, dk and dv;   Z gives dA, and with a = 1 / sqrt(D)
//   dS = A (dA - rowsum(A dA)),   dQl += a dS Kl,   dKl += a dS^T Ql
//   dq_t += dQl_s / tokens of t's segment s,   dk_t likewise from dKl.
// Cost: 8 m C a token, and 48 m^3 a head and sequence. Saved: one number a head and row.
// Paper: Xiong et al., "Nystromformer", 2021.
#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/gemm.h"
#include "kernels/rows.h"
#include "kernels/softmax.h"
#include "layers/linear.h"
#include "mixers/pseudo_inverse.h"
#include "mixers/softmax.h"

namespace linnet {
namespace {

constexpr int64_t kLandmarks = 64;

void build(ParamLayout&, const std::string&, MixerPlan& plan) { plan.key_width = plan.width; }

// The parts of a state, and in dstate what is owed to them.
struct Parts {
  int64_t m;                  // landmarks
  Mat q;                      // of all tokens
  MixerState tokens;          // a softmax mixer's, of k and v
  MixerState landmarks;       // a softmax mixer's, of Kl and M
  Mat queries, answers, lse;  // Ql and W, and what its softmax saved
  Parts(const MixerPlan& plan, const MixerState& s) : m(std::min(kLandmarks, s.count)) {
    const int64_t ld = leading_dim(plan.width);
    float* at = s.data;
    const auto take = [&](int64_t floats) { return std::exchange(at, at + floats); };
    q = {take(s.capacity * ld), ld};
    tokens = {take(kSoftmaxMixer.state_floats(plan, s.capacity)), s.count, s.capacity};
    landmarks = {take(kSoftmaxMixer.state_floats(plan, kLandmarks)), m, kLandmarks};
    queries = {take(kLandmarks * ld), ld};
    answers = {take(kLandmarks * ld), ld};
    lse = {take(kLandmarks * plan.heads), plan.heads};
  }
};

int64_t state_floats(const MixerPlan& plan, int64_t T) {
  return (T + 2 * kLandmarks) * leading_dim(plan.width) + kSoftmaxMixer.state_floats(plan, T) +
         kSoftmaxMixer.state_floats(plan, kLandmarks) + kLandmarks * plan.heads;
}

int64_t saved_floats(const MixerPlan& plan) { return kSoftmaxMixer.saved_floats(plan); }

MixerRun keeping(const MixerRun& run) {
  MixerRun kept = run;
  kept.keep = true;
  return kept;
}

void absorb(const MixerRun& run, const MixerChunk& chunk, MixerState& state) {
  Parts parts(run.plan, state);
  copy_rows(chunk.rows, run.plan.width, chunk.q, parts.q.rows(state.count));
  kSoftmaxMixer.absorb(keeping(run), chunk, parts.tokens);
  state.count += chunk.rows;
}

void merge(const MixerPlan& plan, const MixerState& other, MixerState& state) {
  const Parts from(plan, other);
  Parts parts(plan, state);
  copy_rows(other.count, plan.width, from.q, parts.q.rows(state.count));
  kSoftmaxMixer.merge(plan, from.tokens, parts.tokens);
  state.count += other.count;
}

// Calls visit(s, first, last) for the tokens of every segment that lie in [from, to).
template <class Visit>
void for_each_segment(int64_t T, int64_t m, int64_t from, int64_t to, const Visit& visit) {
  for (int64_t s = 0; s < m; ++s) {
    const int64_t first = std::max(from, s * T / m), last = std::min(to, (s + 1) * T / m);
    if (first < last) visit(s, first, last);
  }
}

// 1 / the tokens of segment s.
float segment_weight(int64_t T, int64_t m, int64_t s) {
  return 1.0f / static_cast<float>((s + 1) * T / m - s * T / m);
}

// [m,C] = the segments' means of x [T,C].
void segment_means(int64_t T, int64_t m, int64_t C, ConstMat x, Mat means) {
  for_each_segment(T, m, 0, T, [&](int64_t s, int64_t first, int64_t last) {
    std::fill_n(means.row(s), C, 0.0f);
    add_column_sums(last - first, C, x.rows(first), means.row(s));
    scale(C, segment_weight(T, m, s), means.row(s));
  });
}

// dx [rows,C] of the tokens from `from` on += their share of dmeans.
void segment_means_backward(int64_t T, int64_t m, int64_t C, int64_t from, int64_t rows,
                            ConstMat dmeans, Mat dx) {
  for_each_segment(T, m, from, from + rows, [&](int64_t s, int64_t first, int64_t last) {
    for (int64_t t = first; t < last; ++t) {
      add_scaled(C, segment_weight(T, m, s), dmeans.row(s), dx.row(t - from));
    }
  });
}

// [rows,n] = a x y^T for x [rows,D] and y [n,D].
void products(int64_t rows, int64_t n, int64_t D, float a, ConstMat x, ConstMat y, Mat out,
              Arena& scratch) {
  Arena::Scope scope(scratch);
  float* panels = scratch.take(packed_floats(D, n));
  pack_transposed(D, n, y.data, y.ld, panels);
  gemm(rows, n, D, rows_of(x.data, x.ld), packed(panels, D), out.data, out.ld);
  for (int64_t i = 0; i < rows; ++i) scale(n, a, out.row(i));
}

float score_scale(const MixerPlan& plan) { return 1.0f / std::sqrt(static_cast<float>(plan.head)); }

// A [m,m] of head h.
void landmark_weights(const MixerPlan& plan, const Parts& parts, int64_t h, ConstMat kl, Mat A,
                      Arena& scratch) {
  const int64_t D = plan.head;
  products(parts.m, parts.m, D, score_scale(plan), parts.queries.columns(h * D), kl.columns(h * D),
           A, scratch);
  softmax_rows(parts.m, parts.m, A);
}

MixerChunk landmark_queries(const Parts& parts) {
  return {.rows = parts.m, .first = 0, .q = parts.queries, .k = {}, .v = {}, .keys = {}};
}

void finish(const MixerRun& run, MixerState& state) {
  const MixerPlan& plan = run.plan;
  const int64_t T = state.count, C = plan.width, D = plan.head;
  Parts parts(plan, state);
  const int64_t m = parts.m;
  Arena::Scope scope(run.scratch);
  const Mat kl = take_mat(run.scratch, m, C), values = take_mat(run.scratch, m, C);
  const Mat A = take_mat(run.scratch, m, m), Z = take_mat(run.scratch, m, m);
  segment_means(T, m, C, parts.q, parts.queries);
  segment_means(T, m, C, key_values(plan, parts.tokens).k, kl);
  kSoftmaxMixer.emit(run, landmark_queries(parts), parts.tokens, parts.lse, parts.answers);
  for (int64_t h = 0; h < plan.heads; ++h) {
    landmark_weights(plan, parts, h, kl, A, run.scratch);
    pseudo_inverse_forward(m, A, Z, run.scratch);
    const ConstMat w = parts.answers.columns(h * D);
    const Mat out = values.columns(h * D);
    gemm(m, D, m, rows_of(Z.data, Z.ld), plain(w.data, w.ld), out.data, out.ld);
  }
  parts.landmarks.count = 0;
  kSoftmaxMixer.absorb(keeping(run),
                       {.rows = m, .first = 0, .q = {}, .k = {}, .v = values, .keys = kl},
                       parts.landmarks);
}

void finish_backward(const MixerRun& run, const MixerState& state, MixerState& dstate, float*) {
  const MixerPlan& plan = run.plan;
  const int64_t C = plan.width, D = plan.head;
  const Parts parts(plan, state);
  Parts owed(plan, dstate);
  const int64_t m = parts.m;
  const Mat kl = key_values(plan, parts.landmarks).k;
  const auto [dkl, dm] = key_values(plan, owed.landmarks);
  const float a = score_scale(plan);
  Arena::Scope scope(run.scratch);
  const Mat dw = take_mat(run.scratch, m, C), dql = take_mat(run.scratch, m, C);
  const Mat A = take_mat(run.scratch, m, m), Z = take_mat(run.scratch, m, m),
            dA = take_mat(run.scratch, m, m), dZ = take_mat(run.scratch, m, m);
  float* delta = run.scratch.take(m);
  for (int64_t h = 0; h < plan.heads; ++h) {
    const ConstMat w = parts.answers.columns(h * D), dmh = dm.columns(h * D),
                   ql = parts.queries.columns(h * D), klh = kl.columns(h * D);
    const Mat dwh = dw.columns(h * D), dqh = dql.columns(h * D), dkh = dkl.columns(h * D);
    landmark_weights(plan, parts, h, kl, A, run.scratch);
    pseudo_inverse_forward(m, A, Z, run.scratch);
    // M = Z W, so dW = Z^T dM and dZ = dM W^T.
    gemm(m, D, m, columns_of(Z.data, Z.ld), plain(dmh.data, dmh.ld), dwh.data, dwh.ld);
    products(m, m, D, 1.0f, dmh, w, dZ, run.scratch);
    pseudo_inverse_backward(m, A, dZ, dA, run.scratch);
    // A = softmax(a Ql Kl^T), so with dS = A (dA - delta): dQl = a dS Kl and dKl += a dS^T Ql.
    row_dots(m, m, A, dA, delta);
    softmax_backward(m, m, A, delta, dA);
    for (int64_t i = 0; i < m; ++i) scale(m, a, dA.row(i));
    gemm(m, D, m, rows_of(dA.data, dA.ld), plain(klh.data, klh.ld), dqh.data, dqh.ld);
    gemm(m, D, m, columns_of(dA.data, dA.ld), plain(ql.data, ql.ld), dkh.data, dkh.ld, nullptr,
         true);
  }
  kSoftmaxMixer.emit_backward(run, landmark_queries(parts), parts.tokens, parts.lse, parts.answers,
                              dw, owed.tokens,
                              {.dq = owed.queries, .dkeys = {}, .dv = {}, .params = nullptr});
  add_rows(m, C, dql, owed.queries);
}

void emit(const MixerRun& run, const MixerChunk& chunk, const MixerState& state, Mat saved, Mat y) {
  kSoftmaxMixer.emit(run, chunk, Parts(run.plan, state).landmarks, saved, y);
}

void emit_backward(const MixerRun& run, const MixerChunk& chunk, const MixerState& state,
                   ConstMat saved, ConstMat y, ConstMat dy, MixerState& dstate,
                   const MixerGrads& grads) {
  Parts owed(run.plan, dstate);
  kSoftmaxMixer.emit_backward(run, chunk, Parts(run.plan, state).landmarks, saved, y, dy,
                              owed.landmarks, grads);
}

void absorb_backward(const MixerRun& run, const MixerChunk& chunk, const MixerState& state,
                     const MixerState& dstate, const MixerGrads& grads) {
  const int64_t T = state.count, C = run.plan.width;
  const Parts parts(run.plan, state), owed(run.plan, dstate);
  kSoftmaxMixer.absorb_backward(run, chunk, parts.tokens, owed.tokens, grads);
  segment_means_backward(T, parts.m, C, chunk.first, chunk.rows,
                         key_values(run.plan, owed.landmarks).k, grads.dkeys);
  segment_means_backward(T, parts.m, C, chunk.first, chunk.rows, owed.queries, grads.dq);
}

MixerFlops flops(const MixerPlan& plan, int64_t T) {
  const auto m = static_cast<double>(std::min(kLandmarks, T));
  const double inverse = kInverseSteps * 8.0 * m * m * m * static_cast<double>(plan.heads);
  const double products = 4.0 * m * static_cast<double>(plan.width);
  return {products + inverse / static_cast<double>(T), products};
}

// x y for x, y [m,m]: real and imaginary parts apart, which the compiler turns into vectors.
std::vector<Complex> exact_product(size_t m, const std::vector<Complex>& x,
                                   const std::vector<Complex>& y) {
  std::vector<double> y_re(m * m), y_im(m * m);
  for (size_t at = 0; at < m * m; ++at) y_re[at] = y[at].real(), y_im[at] = y[at].imag();
  std::vector<Complex> out(m * m);
  for (size_t i = 0; i < m; ++i) {
    std::vector<double> re(m), im(m);
    for (size_t k = 0; k < m; ++k) {
      const double a = x[i * m + k].real(), b = x[i * m + k].imag();
      for (size_t j = 0; j < m; ++j) re[j] += a * y_re[k * m + j] - b * y_im[k * m + j];
      for (size_t j = 0; j < m; ++j) im[j] += a * y_im[k * m + j] + b * y_re[k * m + j];
    }
    for (size_t j = 0; j < m; ++j) out[i * m + j] = {re[j], im[j]};
  }
  return out;
}

// Z [m,m] of A, as in the paper.
std::vector<Complex> exact_inverse(size_t m, const std::vector<Complex>& A) {
  double column = 0;  // the real part alone: it is held fixed
  for (size_t j = 0; j < m; ++j) {
    double sum = 0;
    for (size_t i = 0; i < m; ++i) sum += A[i * m + j].real();
    column = std::max(column, sum);
  }
  std::vector<Complex> Z(m * m);
  for (size_t at = 0; at < m * m; ++at) Z[at] = A[at % m * m + at / m] / column;
  for (int n = 0; n < kInverseSteps; ++n) {
    const std::vector<Complex> AZ = exact_product(m, A, Z);
    // c I - AZ x
    const auto less = [&](double c, std::vector<Complex> x) {
      for (Complex& value : x) value = -value;
      for (size_t i = 0; i < m; ++i) x[i * m + i] += c;
      return x;
    };
    Z = exact_product(m, Z,
                      less(13, exact_product(m, AZ, less(15, exact_product(m, AZ, less(7, AZ))))));
    for (Complex& value : Z) value *= 0.25;
  }
  return Z;
}

std::vector<Complex> exact_means(int64_t T, int64_t m, int64_t C, const Complex* x) {
  std::vector<Complex> means(static_cast<size_t>(m * C));
  for_each_segment(T, m, 0, T, [&](int64_t s, int64_t first, int64_t last) {
    for (int64_t at = first * C; at < last * C; ++at) {
      means[static_cast<size_t>(s * C + at % C)] += x[at] / static_cast<double>(last - first);
    }
  });
  return means;
}

void reference(const MixerPlan& plan, const Complex*, int64_t T, const Complex* q, const Complex* k,
               const Complex* v, Complex* y) {
  const int64_t C = plan.width, D = plan.head, m = std::min(kLandmarks, T);
  const std::vector<Complex> ql = exact_means(T, m, C, q), kl = exact_means(T, m, C, k);
  std::vector<Complex> answers(static_cast<size_t>(m * C)), values(answers.size());
  exact_attention(plan, m, ql.data(), T, k, v, answers.data());
  for (int64_t h = 0; h < plan.heads; ++h) {
    std::vector<Complex> A;
    for (int64_t s = 0; s < m; ++s) {
      const std::vector<Complex> row = exact_weights(plan, h, ql.data() + s * C, m, kl.data());
      A.insert(A.end(), row.begin(), row.end());
    }
    const std::vector<Complex> Z = exact_inverse(static_cast<size_t>(m), A);
    for (int64_t at = 0; at < m * m; ++at) {
      for (int64_t c = h * D; c < (h + 1) * D; ++c) {
        values[static_cast<size_t>(at / m * C + c)] +=
            Z[static_cast<size_t>(at)] * answers[static_cast<size_t>(at % m * C + c)];
      }
    }
  }
  exact_attention(plan, T, q, m, kl.data(), values.data(), y);
}

}  // namespace

extern const Mixer kNystromformerMixer = {
    .name = "nystromformer",
    .formula = "y = softmax(Q Kl^T) softmax(Ql Kl^T)^+ softmax(Ql K^T) V,  Ql, Kl: segment means",
    .summary = "attention by way of 64 landmarks, with an iterated pseudo-inverse",
    .paper = "Xiong et al. 2021",
    .cost = "O(T m C)",
    .state = "O(T C)",
    .uses_q = true,
    .uses_k = true,
    .uses_feature = false,
    .causal = false,
    .grows = true,
    .absorbs_q = true,
    .averages = false,
    .build = build,
    .state_floats = state_floats,
    .saved_floats = saved_floats,
    .prepare = nullptr,
    .prepare_backward = nullptr,
    .absorb = absorb,
    .merge = merge,
    .finish = finish,
    .finish_backward = finish_backward,
    .emit = emit,
    .emit_again = nullptr,
    .emit_backward = emit_backward,
    .absorb_backward = absorb_backward,
    .flops = flops,
    .reference = reference,
};

}  // namespace linnet
