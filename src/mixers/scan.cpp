// scan.cpp -- no attention: running sums with learned decays from the left and from the right,
// which the queries gate.
//
// Forward, every channel by itself, with 8 decays a_n and weights w_n for each direction:
//   h_i,n = a_n h_i-1,n + v_i                      (from the left; from the right: h_i+1,n)
//   s_i = sum_n w_n b_n h_i,n of both directions,   b_n = sqrt(1 - a_n^2),   y_i = q_i * s_i
// b keeps s as large as v, whatever the decay. Causal: from the left alone.
// a = exp(-exp(t)), t = a start value of channel and sum plus a learned number: half-lives from 1
// to 1024 tokens at the start. There is no denominator, so sums can count: what opens less what
// closes. Backward, given dy: dq_i = dy_i * s_i, ds_i = dy_i * q_i, then per sum, against its
// direction,
//   l_i = u ds_i + a l_i+1,   dv_i += l_i,   da += l_i h_i-1,   du += ds_i h_i,   u = w b;
//   dw = b du,   da -= du w a / b,   dt = da a log a.
// The state. Causal: h and log a^count. Else v and s [T,C], and h of both directions at the start
// of every block of 120 tokens, from which the backward has the others again. Cost: 32 C a token
// and direction. Nothing is saved. Papers: Gu et al. 2022 (S4D), Orvieto et al. 2023 (b), Ma et al.
// 2023 (both directions).
#include "kernels/scan.h"

#include <algorithm>
#include <cmath>

#include "kernels/pairs.h"
#include "kernels/rows.h"
#include "layers/linear.h"
#include "mixers/mixer.h"

namespace linnet {
namespace {

constexpr int64_t kBlock = 120;
constexpr double kShortest = 1, kLongest = 1024;  // half-lives

int64_t sums_of(const MixerPlan& plan) { return kScanSums * plan.width; }
int64_t directions(const MixerPlan& plan) { return plan.causal ? 1 : 2; }

void build(ParamLayout& layout, const std::string& name, MixerPlan& plan) {
  const int64_t rows = directions(plan) * kScanSums;
  const auto gain = static_cast<float>(1 / std::sqrt(static_cast<double>(rows)));
  // The rows from the left come first: a causal model has no others (models/model_folder.cpp).
  plan.offsets = {layout.add(name + ".scan_decay", {rows, plan.width}, Init::zeros, 0.0f, false),
                  layout.add(name + ".scan_weight", {rows, plan.width}, Init::normal, gain, false)};
}

// log a of sum n of channel c: channels stand between each other, so that all lengths are there.
template <class Number>
Number log_decay(const MixerPlan& plan, int64_t n, int64_t c, Number learned) {
  const double place =
      (static_cast<double>(n) + static_cast<double>(c) / static_cast<double>(plan.width)) /
      static_cast<double>(kScanSums);
  // log(log 2 / half-life), where log half-lives are evenly apart.
  static const double kFirst = std::log(std::log(2.0) / kShortest),
                      kRange = std::log(kLongest / kShortest);
  return -std::exp(kFirst - kRange * place + learned);
}

// Parameters of sum i of a direction, and what follows of them.
struct Sum {
  int64_t at;                  // in a block of one direction after the other
  double log_a, weight, e, b;  // 1 - a, sqrt(1 - a^2) = sqrt(e (2 - e))
  Sum(const MixerRun& run, int64_t direction, int64_t i)
      : at(direction * sums_of(run.plan) + i),
        log_a(log_decay(run.plan, i / run.plan.width, i % run.plan.width,
                        static_cast<double>(run.weights.params[run.plan.offsets[0] + at]))),
        weight(run.weights.params[run.plan.offsets[1] + at]),
        e(-std::expm1(log_a)),
        b(std::sqrt(e * (2 - e))) {}
};

// What a scan needs of the parameters of one direction.
struct Factors {
  float *e, *u;  // 1 - a, w b
  Factors(const MixerRun& run, int64_t direction)
      : e(run.scratch.take(sums_of(run.plan))), u(run.scratch.take(sums_of(run.plan))) {
    for (int64_t i = 0; i < sums_of(run.plan); ++i) {
      const Sum sum(run, direction, i);
      e[i] = static_cast<float>(sum.e);
      u[i] = static_cast<float>(sum.weight * sum.b);
    }
  }
};

// From the gradients of a and u to those of the parameters.
void factors_backward(const MixerRun& run, int64_t direction, const float* da, const float* du,
                      float* grads) {
  for (int64_t i = 0; i < sums_of(run.plan); ++i) {
    const Sum sum(run, direction, i);
    const double a = 1 - sum.e, to_a = da[i] - du[i] * sum.weight * a / sum.b;
    grads[run.plan.offsets[0] + sum.at] += static_cast<float>(to_a * a * sum.log_a);
    grads[run.plan.offsets[1] + sum.at] += static_cast<float>(sum.b * du[i]);
  }
}

int64_t blocks_of(int64_t T) { return (T + kBlock - 1) / kBlock; }
int64_t state_floats(const MixerPlan& plan, int64_t T) {
  if (plan.causal) return 2 * sums_of(plan);
  return 2 * T * plan.width + blocks_of(T) * 2 * sums_of(plan);
}
int64_t saved_floats(const MixerPlan&) { return 0; }

float* logs(const MixerPlan& plan, const MixerState& state) { return state.data + sums_of(plan); }
Mat kept_values(const MixerPlan& plan, const MixerState& state) { return {state.data, plan.width}; }
Mat kept_sums(const MixerPlan& plan, const MixerState& state) {
  return {state.data + state.capacity * plan.width, plan.width};
}
float* start_of(const MixerPlan& plan, const MixerState& state, int64_t direction, int64_t block) {
  return state.data + 2 * state.capacity * plan.width + (2 * block + direction) * sums_of(plan);
}

void absorb(const MixerRun& run, const MixerChunk& chunk, MixerState& state) {
  const MixerPlan& plan = run.plan;
  if (plan.causal) {
    Arena::Scope scope(run.scratch);
    const Factors f(run, 0);
    scan(chunk.rows, plan.width, f.e, f.u, chunk.v, state.data, {});
    for (int64_t i = 0; i < sums_of(plan); ++i)
      logs(plan, state)[i] += static_cast<float>(chunk.rows) * std::log1p(-f.e[i]);
  } else {
    copy_rows(chunk.rows, plan.width, chunk.v, kept_values(plan, state).rows(state.count));
  }
  state.count += chunk.rows;
}

void merge(const MixerPlan& plan, const MixerState& other, MixerState& state) {
  if (plan.causal) {
    for (int64_t i = 0; i < sums_of(plan); ++i) state.data[i] *= std::exp(logs(plan, other)[i]);
    add(2 * sums_of(plan), other.data, state.data);
  } else {
    copy_rows(other.count, plan.width, kept_values(plan, other),
              kept_values(plan, state).rows(state.count));
  }
  state.count += other.count;
}

// Rows of a block in the order in which the direction goes through them.
struct Stretch {
  int64_t rows, first, step;
  Mat of(Mat all) const { return {all.row(first), step * all.ld}; }
};
Stretch stretch_of(int64_t count, int64_t direction, int64_t block) {
  const int64_t at = block * kBlock, rows = std::min(kBlock, count - at);
  return direction == 0 ? Stretch{rows, at, 1} : Stretch{rows, at + rows - 1, -1};
}

void finish(const MixerRun& run, MixerState& state) {
  const MixerPlan& plan = run.plan;
  const int64_t blocks = blocks_of(state.count);
  for (int64_t direction = 0; direction < 2; ++direction) {
    Arena::Scope scope(run.scratch);
    const Factors f(run, direction);
    float* h = run.scratch.take_zeroed(sums_of(plan));
    for (int64_t i = 0; i < blocks; ++i) {
      const int64_t b = direction == 0 ? i : blocks - 1 - i;
      const Stretch stretch = stretch_of(state.count, direction, b);
      std::copy_n(h, sums_of(plan), start_of(plan, state, direction, b));
      scan(stretch.rows, plan.width, f.e, f.u, stretch.of(kept_values(plan, state)), h,
           stretch.of(kept_sums(plan, state)));
    }
  }
}

void finish_backward(const MixerRun& run, const MixerState& state, MixerState& dstate,
                     float* grads) {
  const MixerPlan& plan = run.plan;
  const int64_t blocks = blocks_of(state.count);
  for (int64_t direction = 0; direction < 2; ++direction) {
    Arena::Scope scope(run.scratch);
    const Factors f(run, direction);
    float *l = run.scratch.take_zeroed(sums_of(plan)), *da = run.scratch.take_zeroed(sums_of(plan)),
          *du = run.scratch.take_zeroed(sums_of(plan)),
          *history = run.scratch.take(scan_history_floats(kBlock));
    for (int64_t i = 0; i < blocks; ++i) {
      const int64_t b = direction == 0 ? blocks - 1 - i : i;
      const Stretch stretch = stretch_of(state.count, direction, b);
      scan_backward(stretch.rows, plan.width, f.e, f.u, stretch.of(kept_values(plan, state)),
                    start_of(plan, state, direction, b), stretch.of(kept_sums(plan, dstate)), l,
                    stretch.of(kept_values(plan, dstate)), da, du, history);
    }
    factors_backward(run, direction, da, du, grads);
  }
}

// s of the chunk: kept, or from the state before it.
ConstMat sums_seen(const MixerRun& run, const MixerChunk& chunk, const MixerState& state) {
  const MixerPlan& plan = run.plan;
  if (!plan.causal) return kept_sums(plan, state).rows(chunk.first);
  const Mat s = take_mat(run.scratch, chunk.rows, plan.width);
  for (int64_t i = 0; i < chunk.rows; ++i) std::fill_n(s.row(i), plan.width, 0.0f);
  const Factors f(run, 0);
  float* h = run.scratch.take(sums_of(plan));
  std::copy_n(state.data, sums_of(plan), h);
  scan(chunk.rows, plan.width, f.e, f.u, chunk.v, h, s);
  return s;
}

void emit(const MixerRun& run, const MixerChunk& chunk, const MixerState& state, Mat, Mat y) {
  Arena::Scope scope(run.scratch);
  pair_forward(Pair::product, chunk.rows, run.plan.width, chunk.q, sums_seen(run, chunk, state), y);
}

void emit_backward(const MixerRun& run, const MixerChunk& chunk, const MixerState& state, ConstMat,
                   ConstMat, ConstMat dy, MixerState& dstate, const MixerGrads& grads) {
  const MixerPlan& plan = run.plan;
  const int64_t C = plan.width, rows = chunk.rows;
  Arena::Scope scope(run.scratch);
  const Mat ds =
      plan.causal ? take_mat(run.scratch, rows, C) : kept_sums(plan, dstate).rows(chunk.first);
  pair_backward(Pair::product, rows, C, chunk.q, sums_seen(run, chunk, state), dy, {}, grads.dq,
                ds);
  if (!plan.causal) return;
  // The state after the chunk comes of the same sums as its answers, so one walk serves both.
  const Factors f(run, 0);
  float *da = run.scratch.take_zeroed(sums_of(plan)), *du = run.scratch.take_zeroed(sums_of(plan));
  scan_backward(rows, C, f.e, f.u, chunk.v, state.data, ds, dstate.data, grads.dv, da, du,
                run.scratch.take(scan_history_floats(rows)));
  factors_backward(run, 0, da, du, grads.params);
}

void absorb_backward(const MixerRun& run, const MixerChunk& chunk, const MixerState&,
                     const MixerState& dstate, const MixerGrads& grads) {
  const MixerPlan& plan = run.plan;
  for (int64_t i = 0; plan.causal && i < chunk.rows; ++i)
    std::fill_n(grads.dv.row(i), plan.width, 0.0f);
  if (!plan.causal)
    copy_rows(chunk.rows, plan.width, kept_values(plan, dstate).rows(chunk.first), grads.dv);
}

// Two directions, or one for the answers and one more for the state.
MixerFlops flops(const MixerPlan& plan, int64_t) {
  const auto walk = static_cast<double>(4 * sums_of(plan)), gate = static_cast<double>(plan.width);
  if (plan.causal) return {walk, walk + gate};
  return {2 * walk, gate};
}

void reference(const MixerPlan& plan, const Complex* params, int64_t T, const Complex* q,
               const Complex*, const Complex* v, Complex* y) {
  const int64_t C = plan.width;
  for (int64_t i = 0; i < T * C; ++i) y[i] = 0;
  for (int64_t row = 0; row < directions(plan) * kScanSums; ++row) {
    const bool left = row < kScanSums;
    for (int64_t c = 0; c < C; ++c) {
      const Complex log_a =
          log_decay(plan, row % kScanSums, c, params[plan.offsets[0] + row * C + c]);
      const Complex u =
          params[plan.offsets[1] + row * C + c] * std::sqrt(1.0 - std::exp(2.0 * log_a));
      Complex h = 0;
      for (int64_t t = 0; t < T; ++t) {
        const int64_t i = (left ? t : T - 1 - t) * C + c;
        h = std::exp(log_a) * h + v[i];
        y[i] += q[i] * u * h;
      }
    }
  }
}

}  // namespace

extern const Mixer kScanMixer = {
    .name = "scan",
    .formula = "y_i = q_i * sum_n u_n (sum_{j<=i} a_n^(i-j) v_j), and the same from the right",
    .summary =
        "no attention: running sums with 8 learned decays a channel, both ways, gated by queries; "
        "they can count",
    .paper = "Gu et al. 2022 (S4D), Orvieto et al. 2023",
    .cost = "O(T C)",
    .state = "O(C)",
    .uses_q = true,
    .uses_k = false,
    .uses_feature = false,
    .causal = true,
    .grows = false,
    .averages = false,
    .counts = true,
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
    .emit_again = emit,
    .emit_backward = emit_backward,
    .absorb_backward = absorb_backward,
    .flops = flops,
    .reference = reference};

}  // namespace linnet
