// polynomial.cpp -- attention-free mixers: every token adds its terms p to one running sum, which
// the queries gate.
//
// Forward, with p_j (C) of one of the four kinds below, and n tokens seen:
//   m = sum_j p_j  (C),   y_i = q_i * m / n          (elementwise)
//   poly-relu2            p = max(v, 0)^2
//   poly-bilinear         p = k * v
//   poly-squares          p = v,       where the block projects v from the squares of its input
//   poly-squares-linear   p = v + k,   likewise; k is the linear term
// Causal: m_i = sum_{j<=i} p_j and n = i + 1: the state has the chunks before.
// Backward, given dy, with the mean a_i = m_i / n_i:
//   dq_i = dy_i * a_i,   da_i = dy_i * q_i,   dm = sum_i da_i / n_i,   dp_j = dm
//   causal: dp_j = sum_{i>=j} da_i / n_i, which is also what the chunk owes to the state before it
//   relu2: dv = 2 max(v, 0) * dp;   bilinear: dk = v * dp, dv = k * dp;   else dv = dk = dp.
// Cost: about 4 C a token. Nothing is saved: y is had again for C.
// Paper: Narybaev, "Why Transformers are good?"; as a token mixer: linnet.
#include "kernels/activations.h"
#include "kernels/pairs.h"
#include "kernels/rows.h"
#include "layers/linear.h"
#include "mixers/mixer.h"

namespace linnet {
namespace {

enum class Term { relu2, product, value, sum };  // max(v, 0)^2, k v, v, v + k

constexpr bool uses_keys(Term term) { return term == Term::product || term == Term::sum; }

template <Term kTerm>
void build(ParamLayout&, const std::string&, MixerPlan& plan) {
  plan.key_width = uses_keys(kTerm) ? plan.width : 0;
}

int64_t state_floats(const MixerPlan& plan, int64_t) { return plan.width; }
int64_t saved_floats(const MixerPlan&) { return 0; }

// p [rows, C] of a chunk: v itself, or from scratch.
template <Term kTerm>
ConstMat terms(const MixerRun& run, const MixerChunk& chunk) {
  if (kTerm == Term::value) return chunk.v;
  const int64_t C = run.plan.width;
  const Mat p = take_mat(run.scratch, chunk.rows, C);
  if (kTerm == Term::relu2) relu2_forward(chunk.rows, C, chunk.v, p);
  if (kTerm == Term::product) pair_forward(Pair::product, chunk.rows, C, chunk.keys, chunk.v, p);
  if (kTerm == Term::sum) {
    copy_rows(chunk.rows, C, chunk.v, p);
    add_rows(chunk.rows, C, chunk.keys, p);
  }
  return p;
}

// Writes dv and dk; dp.ld may be 0.
template <Term kTerm>
void terms_backward(const MixerRun& run, const MixerChunk& chunk, ConstMat dp, Mat dk, Mat dv) {
  const int64_t C = run.plan.width, rows = chunk.rows;
  if (kTerm == Term::relu2) relu2_backward(rows, C, chunk.v, dp, dv);
  if (kTerm == Term::product) {
    pair_backward(Pair::product, rows, C, chunk.keys, chunk.v, dp, {}, dk, dv);
  }
  if (kTerm == Term::value || kTerm == Term::sum) copy_rows(rows, C, dp, dv);
  if (kTerm == Term::sum) copy_rows(rows, C, dp, dk);
}

template <Term kTerm>
void absorb(const MixerRun& run, const MixerChunk& chunk, MixerState& state) {
  Arena::Scope scope(run.scratch);
  add_column_sums(chunk.rows, run.plan.width, terms<kTerm>(run, chunk), state.data);
  state.count += chunk.rows;
}

void merge(const MixerPlan& plan, const MixerState& other, MixerState& state) {
  add(plan.width, other.data, state.data);
  state.count += other.count;
}

// The mean that each row sees, [rows, C], or one for all with a leading dimension of 0.
template <Term kTerm>
ConstMat means(const MixerRun& run, const MixerChunk& chunk, const MixerState& state) {
  const int64_t C = run.plan.width;
  const bool causal = run.plan.causal;
  const int64_t rows = causal ? chunk.rows : 1;
  const Mat mean = take_mat(run.scratch, rows, C);
  const ConstMat p = causal ? terms<kTerm>(run, chunk) : ConstMat();
  // The chunk's own prefix sums first, then the state's: each rounds at its own size.
  float* prefix = run.scratch.take_zeroed(C);
  for (int64_t i = 0; i < rows; ++i) {
    if (causal) add(C, p.row(i), prefix);
    copy_rows(1, C, {prefix, 0}, mean.rows(i));
    add(C, state.data, mean.row(i));
    scale(C, 1.0f / static_cast<float>(tokens_seen(run.plan, chunk, state, i)), mean.row(i));
  }
  return {mean.data, causal ? mean.ld : 0};
}

template <Term kTerm>
void emit(const MixerRun& run, const MixerChunk& chunk, const MixerState& state, Mat, Mat y) {
  Arena::Scope scope(run.scratch);
  pair_forward(Pair::product, chunk.rows, run.plan.width, chunk.q, means<kTerm>(run, chunk, state),
               y);
}

template <Term kTerm>
void emit_backward(const MixerRun& run, const MixerChunk& chunk, const MixerState& state, ConstMat,
                   ConstMat, ConstMat dy, MixerState& dstate, const MixerGrads& grads) {
  const int64_t C = run.plan.width, rows = chunk.rows;
  Arena::Scope scope(run.scratch);
  const Mat dp = take_mat(run.scratch, rows, C);
  float* sum = run.scratch.take_zeroed(C);
  // y = q * a, so da = dy * q and dq = dy * a.
  pair_backward(Pair::product, rows, C, chunk.q, means<kTerm>(run, chunk, state), dy, {}, grads.dq,
                dp);
  // a_i = (sum_{j<=i} p_j) / n_i, so dp_j = sum_{i>=j} da_i / n_i, in the place of da.
  for (int64_t i = rows - 1; i >= 0; --i) {
    const float weight = 1.0f / static_cast<float>(tokens_seen(run.plan, chunk, state, i));
    add_scaled(C, weight, dp.row(i), sum);
    copy_rows(1, C, {sum, 0}, dp.rows(i));
  }
  add(C, sum, dstate.data);
  if (!run.plan.causal) return;
  const Mat dk = take_mat(run.scratch, rows, C), dv = take_mat(run.scratch, rows, C);
  terms_backward<kTerm>(run, chunk, dp, dk, dv);
  add_rows(rows, C, dv, grads.dv);
  if (uses_keys(kTerm)) add_rows(rows, C, dk, grads.dkeys);
}

template <Term kTerm>
void absorb_backward(const MixerRun& run, const MixerChunk& chunk, const MixerState&,
                     const MixerState& dstate, const MixerGrads& grads) {
  terms_backward<kTerm>(run, chunk, {dstate.data, 0}, grads.dkeys, grads.dv);
}

MixerFlops flops(const MixerPlan& plan, int64_t) {
  const auto C = static_cast<double>(plan.width);
  return {2 * C, 2 * C};
}

template <Term kTerm>
Complex exact_term(Complex k, Complex v) {
  switch (kTerm) {
    case Term::relu2:
      return v.real() > 0 ? v * v : 0;
    case Term::product:
      return k * v;
    case Term::value:
      return v;
    case Term::sum:
      return v + k;
  }
}

template <Term kTerm>
void reference(const MixerPlan& plan, const Complex*, int64_t T, const Complex* q, const Complex* k,
               const Complex* v, Complex* y) {
  for (int64_t i = 0; i < T; ++i) {
    const int64_t seen = plan.causal ? i + 1 : T;
    for (int64_t c = 0; c < plan.width; ++c) {
      Complex sum = 0;
      for (int64_t at = c; at < seen * plan.width; at += plan.width) {
        sum += exact_term<kTerm>(k[at], v[at]);
      }
      y[i * plan.width + c] = q[i * plan.width + c] * sum / static_cast<double>(seen);
    }
  }
}

template <Term kTerm>
constexpr Mixer polynomial_kind(std::string_view name, std::string_view formula,
                                std::string_view summary, bool squares) {
  return {.name = name,
          .formula = formula,
          .summary = summary,
          .paper = "Narybaev, Why Transformers are good?",
          .cost = "O(T C)",
          .state = "O(C)",
          .uses_q = true,
          .uses_k = uses_keys(kTerm),
          .uses_feature = false,
          .causal = true,
          .grows = false,
          .squares = squares,
          .averages = false,
          .build = build<kTerm>,
          .state_floats = state_floats,
          .saved_floats = saved_floats,
          .prepare = nullptr,
          .prepare_backward = nullptr,
          .absorb = absorb<kTerm>,
          .merge = merge,
          .emit = emit<kTerm>,
          .emit_again = emit<kTerm>,
          .emit_backward = emit_backward<kTerm>,
          .absorb_backward = absorb_backward<kTerm>,
          .flops = flops,
          .reference = reference<kTerm>};
}

}  // namespace

extern const Mixer kPolyRelu2Mixer = polynomial_kind<Term::relu2>(
    "poly-relu2", "y_i = q_i * mean of max(v_j, 0)^2",
    "no attention: queries gate one running mean of squared units", false);
extern const Mixer kPolyBilinearMixer = polynomial_kind<Term::product>(
    "poly-bilinear", "y_i = q_i * mean of k_j * v_j",
    "no attention: queries gate one running mean of products", false);
extern const Mixer kPolySquaresMixer = polynomial_kind<Term::value>(
    "poly-squares", "y_i = q_i * mean of v_j,  v = (x * x) Wv",
    "no attention: queries gate one running mean of projected squares", true);
extern const Mixer kPolySquaresLinearMixer = polynomial_kind<Term::sum>(
    "poly-squares-linear", "y_i = q_i * mean of v_j + k_j,  v = (x * x) Wv",
    "poly-squares with a linear term", true);

}  // namespace linnet
