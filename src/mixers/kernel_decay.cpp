// kernel_decay.cpp -- kernel attention in which a token counts for less the farther away it is.
//
// Forward, one head, with u_i = phi(q_i), w_j = phi(k_j) and g in (0, 1) of the head:
//   a_ij = g^|i-j| (u_i . w_j),   y_i = sum_j a_ij v_j / (sum_j a_ij + guard)
// Causal, the sums run over j <= i: S = g^rows S + sum_j g^(rows-1-j) w_j v_j^T, z likewise, which
// row i of the next chunk sees times g^(i+1); inside the chunk A = U W^T * g^(i-j), masked.
// Bidirectional, by two directions: the state keeps all keys and values, and for every block of 60
// tokens what it sums up for those after it and for those before it; `finish` turns these into
// what each block sees from the left (P) and from the right (Q),
//   P_b+1 = g^60 P_b + sum_j g^(59-j) w_j v_j^T,   Q_b-1 = g^60 Q_b + sum_j g^j w_j v_j^T,
// and row i of the block answers from g^(i+1) P, g^(60-i) Q and A = U W^T * g^|i-j| inside.
// Backward: the products of kernel.cpp, each row with its power of g (decayed_sums.h).
// g = exp(-exp(a)), a = a start value of the head plus a learned number: half-lives from 16 to 1024
// tokens at the start. Cost: 8 F D + 120 (F + D) a head and token. Saved: U and 1/d.
// Papers: Sun et al. 2023 (decay); Katharopoulos et al. 2020.
#include <algorithm>
#include <cmath>

#include "kernels/rows.h"
#include "layers/linear.h"
#include "mixers/decayed_sums.h"
#include "mixers/kernel_phi.h"

namespace linnet {
namespace {

// Half the chunk of a model, so that a stretch is a whole block. Narrow heads would have shorter
// ones, wide ones longer: at 8 and at 64 features 40 and 120 are a few percent from this.
constexpr int64_t kBlock = 60;
constexpr double kShortest = 16, kLongest = 1024;  // half-lives of the first and the last head

void build(ParamLayout& layout, const std::string& name, MixerPlan& plan) {
  build_phi(layout, name, plan);
  plan.offsets = {layout.add(name + ".decay", {plan.heads}, Init::zeros, 0.0f, false)};
}

// log g of a head; its derivative by the learned number is itself.
template <class Number>
Number log_decay(const MixerPlan& plan, int64_t h, Number learned) {
  const double place =
      plan.heads > 1 ? static_cast<double>(h) / static_cast<double>(plan.heads - 1) : 0.5;
  const double half_life = kShortest * std::pow(kLongest / kShortest, place);
  return -std::exp(std::log(std::log(2.0) / half_life) + learned);
}

Powers powers_of(const MixerRun& run, int64_t h, int64_t rows) {
  const double learned = run.weights.params[run.plan.offsets[0] + h];
  return Powers(run.scratch, log_decay(run.plan, h, learned), std::max(rows, kBlock),
                run.plan.causal);
}

void add_decay_gradient(const MixerRun& run, int64_t h, const Powers& powers, double dl,
                        float* grads) {
  grads[run.plan.offsets[0] + h] += static_cast<float>(dl * powers.log_g);
}

// The state. Causal: Sums a head, then log g^count a head. Else keys [T,H*F], values [T,C], and for
// each block and head the Sums of both directions.
int64_t blocks_of(int64_t T) { return (T + kBlock - 1) / kBlock; }
int64_t state_floats(const MixerPlan& plan, int64_t T) {
  if (plan.causal) return plan.heads * (sums_floats(plan) + 1);
  return T * (plan.key_width + plan.width) + blocks_of(T) * plan.heads * 2 * sums_floats(plan);
}
Sums carried(const MixerPlan& plan, const MixerState& state, int64_t h) {
  return sums_at(plan, state.data + h * sums_floats(plan));
}
float* logs(const MixerPlan& plan, const MixerState& state) {
  return state.data + plan.heads * sums_floats(plan);
}
Mat kept_keys(const MixerPlan& plan, const MixerState& state) {
  return {state.data, plan.key_width};
}
Mat kept_values(const MixerPlan& plan, const MixerState& state) {
  return {state.data + state.capacity * plan.key_width, plan.width};
}
enum Direction { kLeft, kRight };
Sums seen(const MixerPlan& plan, const MixerState& state, int64_t block, int64_t h,
          Direction side) {
  float* data = state.data + state.capacity * (plan.key_width + plan.width);
  return sums_at(plan, data + ((block * plan.heads + h) * 2 + side) * sums_floats(plan));
}

int64_t saved_floats(const MixerPlan& plan) { return plan.key_width + plan.heads; }

void absorb(const MixerRun& run, const MixerChunk& chunk, MixerState& state) {
  const MixerPlan& plan = run.plan;
  if (!plan.causal) {
    copy_rows(chunk.rows, plan.key_width, chunk.keys, kept_keys(plan, state).rows(state.count));
    copy_rows(chunk.rows, plan.width, chunk.v, kept_values(plan, state).rows(state.count));
  }
  for (int64_t h = 0; plan.causal && h < plan.heads; ++h) {
    Arena::Scope scope(run.scratch);
    const Powers powers = powers_of(run, h, chunk.rows);
    const Sums sums = carried(plan, state, h);
    scale(sums_floats(plan), powers.of(chunk.rows), sums.s);
    sum_up(run, {run.scratch, powers, chunk.rows, chunk.rows - 1, -1},
           chunk.keys.columns(h * plan.phi.out), chunk.v.columns(h * plan.head), sums);
    logs(plan, state)[h] += static_cast<float>(powers.log_g * static_cast<double>(chunk.rows));
  }
  state.count += chunk.rows;
}

void merge(const MixerPlan& plan, const MixerState& other, MixerState& state) {
  if (plan.causal) {
    for (int64_t h = 0; h < plan.heads; ++h) {
      scale(sums_floats(plan), std::exp(logs(plan, other)[h]), carried(plan, state, h).s);
    }
    add(state_floats(plan, 0), other.data, state.data);
  } else {
    copy_rows(other.count, plan.key_width, kept_keys(plan, other),
              kept_keys(plan, state).rows(state.count));
    copy_rows(other.count, plan.width, kept_values(plan, other),
              kept_values(plan, state).rows(state.count));
  }
  state.count += other.count;
}

// Visits every block with the sums of each direction, in the order in which that one carries.
template <class Visit>
void for_each_carried(const MixerPlan& plan, const MixerState& state, int64_t h, bool reverse,
                      const Visit& visit) {
  const int64_t blocks = blocks_of(state.count);
  for (const Direction side : {kLeft, kRight}) {
    for (int64_t i = 0; i < blocks; ++i) {
      const int64_t b = (side == kRight) != reverse ? blocks - 1 - i : i;
      visit(side, b, seen(plan, state, b, h, side).s, i == 0);
    }
  }
}

void finish(const MixerRun& run, MixerState& state) {
  const MixerPlan& plan = run.plan;
  const int64_t n = sums_floats(plan);
  for (int64_t h = 0; h < plan.heads; ++h) {
    Arena::Scope scope(run.scratch);
    const Powers powers = powers_of(run, h, kBlock);
    float* carry = run.scratch.take(n);
    for_each_carried(
        plan, state, h, false, [&](Direction side, int64_t b, float* slot, bool first) {
          Arena::Scope inner(run.scratch);
          if (first) std::fill_n(carry, n, 0.0f);
          std::copy_n(carry, n, slot);
          const int64_t at = b * kBlock, rows = std::min(kBlock, state.count - at);
          scale(n, powers.of(kBlock), carry);
          sum_up(
              run,
              {run.scratch, powers, rows, side == kLeft ? kBlock - 1 : 0, side == kLeft ? -1 : 1},
              kept_keys(plan, state).rows(at).columns(h * plan.phi.out),
              kept_values(plan, state).rows(at).columns(h * plan.head), sums_at(plan, carry));
        });
  }
}

// P and Q become what their blocks owe to the sums: from d(seen) to d(summed up), in place.
void finish_backward(const MixerRun& run, const MixerState& state, MixerState& dstate,
                     float* grads) {
  const MixerPlan& plan = run.plan;
  const int64_t n = sums_floats(plan);
  for (int64_t h = 0; h < plan.heads; ++h) {
    Arena::Scope scope(run.scratch);
    const Powers powers = powers_of(run, h, kBlock);
    float *carry = run.scratch.take(n), *seen_gradient = run.scratch.take(n);
    double dl = 0;
    for_each_carried(plan, state, h, true,
                     [&](Direction side, int64_t b, float* seen_sums, bool first) {
                       if (first) std::fill_n(carry, n, 0.0f);
                       float along, *slot = seen(plan, dstate, b, h, side).s;
                       row_dots(1, n, {carry, n}, {seen_sums, n}, &along);
                       dl += static_cast<double>(kBlock) * powers.of(kBlock) * along;
                       std::copy_n(slot, n, seen_gradient);
                       std::copy_n(carry, n, slot);
                       scale(n, powers.of(kBlock), carry);
                       add(n, seen_gradient, carry);
                     });
    add_decay_gradient(run, h, powers, dl, grads);
  }
}

// Visits the stretches of a chunk that lie in one block each: first row of the chunk, block, place
// in the block, rows.
template <class Visit>
void for_each_stretch(const MixerChunk& chunk, const Visit& visit) {
  for (int64_t r = 0; r < chunk.rows;) {
    const int64_t b = (chunk.first + r) / kBlock, o = (chunk.first + r) % kBlock;
    const int64_t rows = std::min(kBlock - o, chunk.rows - r);
    visit(r, b, o, rows);
    r += rows;
  }
}

void emit(const MixerRun& run, const MixerChunk& chunk, const MixerState& state, Mat saved, Mat y) {
  const MixerPlan& plan = run.plan;
  const int64_t F = plan.phi.out, D = plan.head, rows = chunk.rows;
  phi_of_queries(run, chunk, saved);
  for (int64_t i = 0; i < rows; ++i) std::fill_n(y.row(i), plan.width, 0.0f);
  for (int64_t h = 0; h < plan.heads; ++h) {
    Arena::Scope scope(run.scratch);
    const Powers powers = powers_of(run, h, rows);
    float* d = run.scratch.take_zeroed(rows);
    const ConstMat u = saved.columns(h * F);
    const Mat n = y.columns(h * D);
    if (plan.causal) {
      look_up(run, {run.scratch, powers, rows, 1, 1}, u, carried(plan, state, h), n, d);
      inside_forward(run, {rows, rows, 0}, powers, u, chunk.keys.columns(h * F),
                     chunk.v.columns(h * D), n, d);
    } else {
      for_each_stretch(chunk, [&](int64_t r, int64_t b, int64_t o, int64_t count) {
        const int64_t at = b * kBlock;
        look_up(run, {run.scratch, powers, count, o + 1, 1}, u.rows(r),
                seen(plan, state, b, h, kLeft), n.rows(r), d + r);
        look_up(run, {run.scratch, powers, count, kBlock - o, -1}, u.rows(r),
                seen(plan, state, b, h, kRight), n.rows(r), d + r);
        inside_forward(run, {count, std::min(kBlock, state.count - at), o}, powers, u.rows(r),
                       kept_keys(plan, state).rows(at).columns(h * F),
                       kept_values(plan, state).rows(at).columns(h * D), n.rows(r), d + r);
      });
    }
    for (int64_t i = 0; i < rows; ++i) {
      d[i] = 1 / (d[i] + kKernelGuard);
      saved.row(i)[plan.key_width + h] = d[i];
    }
    scale_rows(rows, D, n, d, n);
  }
}

void emit_backward(const MixerRun& run, const MixerChunk& chunk, const MixerState& state,
                   ConstMat saved, ConstMat y, ConstMat dy, MixerState& dstate,
                   const MixerGrads& grads) {
  const MixerPlan& plan = run.plan;
  const int64_t F = plan.phi.out, D = plan.head, rows = chunk.rows;
  Arena::Scope scope(run.scratch);
  const Mat dphi = take_mat(run.scratch, rows, plan.key_width);
  for (int64_t i = 0; i < rows; ++i) std::fill_n(dphi.row(i), plan.key_width, 0.0f);
  const Mat dn = take_mat(run.scratch, rows, D);
  float* e = run.scratch.take(rows);
  for (int64_t h = 0; h < plan.heads; ++h) {
    Arena::Scope inner(run.scratch);
    const Powers powers = powers_of(run, h, rows);
    const ConstMat u = saved.columns(h * F);
    const Mat du = dphi.columns(h * F);
    quotient_backward(run, rows, h, saved, y, dy, dn, e);
    double dl = 0;
    if (plan.causal) {
      // What later chunks owe to the state after this one, absorb has had; before it, it decays.
      scale(sums_floats(plan), powers.of(rows), carried(plan, dstate, h).s);
      dl += look_up_backward(run, {run.scratch, powers, rows, 1, 1}, u, carried(plan, state, h), dn,
                             e, du, carried(plan, dstate, h));
      dl += inside_backward(run, {rows, rows, 0}, powers, u, chunk.keys.columns(h * F),
                            chunk.v.columns(h * D), dn, e, du, grads.dkeys.columns(h * F),
                            grads.dv.columns(h * D));
    } else {
      for_each_stretch(chunk, [&](int64_t r, int64_t b, int64_t o, int64_t count) {
        const int64_t at = b * kBlock;
        dl += look_up_backward(run, {run.scratch, powers, count, o + 1, 1}, u.rows(r),
                               seen(plan, state, b, h, kLeft), dn.rows(r), e + r, du.rows(r),
                               seen(plan, dstate, b, h, kLeft));
        dl += look_up_backward(run, {run.scratch, powers, count, kBlock - o, -1}, u.rows(r),
                               seen(plan, state, b, h, kRight), dn.rows(r), e + r, du.rows(r),
                               seen(plan, dstate, b, h, kRight));
        dl += inside_backward(run, {count, std::min(kBlock, state.count - at), o}, powers,
                              u.rows(r), kept_keys(plan, state).rows(at).columns(h * F),
                              kept_values(plan, state).rows(at).columns(h * D), dn.rows(r), e + r,
                              du.rows(r), kept_keys(plan, dstate).rows(at).columns(h * F),
                              kept_values(plan, dstate).rows(at).columns(h * D));
      });
    }
    add_decay_gradient(run, h, powers, dl, grads.params);
  }
  phi_of_queries_backward(run, chunk, saved, dphi, grads.dq, grads.params);
}

void absorb_backward(const MixerRun& run, const MixerChunk& chunk, const MixerState& state,
                     const MixerState& dstate, const MixerGrads& grads) {
  const MixerPlan& plan = run.plan;
  const int64_t F = plan.phi.out, D = plan.head, rows = chunk.rows;
  if (plan.causal) {
    for (int64_t i = 0; i < rows; ++i) {
      std::fill_n(grads.dkeys.row(i), plan.key_width, 0.0f);
      std::fill_n(grads.dv.row(i), plan.width, 0.0f);
    }
  } else {
    copy_rows(rows, plan.key_width, kept_keys(plan, dstate).rows(chunk.first), grads.dkeys);
    copy_rows(rows, plan.width, kept_values(plan, dstate).rows(chunk.first), grads.dv);
  }
  for (int64_t h = 0; h < plan.heads; ++h) {
    Arena::Scope scope(run.scratch);
    const Powers powers = powers_of(run, h, rows);
    const ConstMat w = chunk.keys.columns(h * F), v = chunk.v.columns(h * D);
    const Mat dw = grads.dkeys.columns(h * F), dv = grads.dv.columns(h * D);
    double dl = 0;
    if (plan.causal) {
      const Sums before = carried(plan, state, h), owed = carried(plan, dstate, h);
      // S = g^rows S + ..., so:
      float along;
      row_dots(1, sums_floats(plan), {before.s, 0}, {owed.s, 0}, &along);
      dl += static_cast<double>(rows) * powers.of(rows) * along;
      dl += sum_up_backward(run, {run.scratch, powers, rows, rows - 1, -1}, w, v, owed, dw, dv);
    } else {
      for_each_stretch(chunk, [&](int64_t r, int64_t b, int64_t o, int64_t count) {
        dl += sum_up_backward(run, {run.scratch, powers, count, kBlock - 1 - o, -1}, w.rows(r),
                              v.rows(r), seen(plan, dstate, b, h, kLeft), dw.rows(r), dv.rows(r));
        dl += sum_up_backward(run, {run.scratch, powers, count, o, 1}, w.rows(r), v.rows(r),
                              seen(plan, dstate, b, h, kRight), dw.rows(r), dv.rows(r));
      });
    }
    add_decay_gradient(run, h, powers, dl, grads.params);
  }
}

MixerFlops flops(const MixerPlan& plan, int64_t) {
  const int64_t F = plan.phi.out, D = plan.head;
  const int64_t sums = (plan.causal ? 2 : 4) * F * D,
                inside = 2 * (plan.causal ? 2 * kBlock : kBlock) * (F + D);
  return {static_cast<double>(plan.heads * sums),
          static_cast<double>(plan.heads * (sums + inside))};
}

void reference(const MixerPlan& plan, const Complex* params, int64_t T, const Complex* q,
               const Complex* k, const Complex* v, Complex* y) {
  std::vector<Complex> log_g;
  for (int64_t h = 0; h < plan.heads; ++h)
    log_g.push_back(log_decay(plan, h, params[plan.offsets[0] + h]));
  kernel_reference(plan, params, T, q, k, v, log_g, y);
}

}  // namespace

extern const Mixer kKernelDecayMixer = {
    .name = "kernel-decay",
    .formula =
        "y_i = sum_j g^|i-j| (phi(q_i) . phi(k_j)) v_j / sum_j g^|i-j| (phi(q_i) . phi(k_j))",
    .summary =
        "kernel attention that looks nearby first, each head as far as it learns: where order "
        "and neighbours matter",
    .paper = "Sun et al. 2023",
    .cost = "O(T F D)",
    .state = "O(F D)",
    .uses_q = true,
    .uses_k = true,
    .uses_feature = true,
    .causal = true,
    .grows = false,
    .build = build,
    .state_floats = state_floats,
    .saved_floats = saved_floats,
    .prepare = phi_of_keys,
    .prepare_backward = phi_of_keys_backward,
    .absorb = absorb,
    .merge = merge,
    .finish = finish,
    .finish_backward = finish_backward,
    .emit = emit,
    .emit_again = nullptr,
    .emit_backward = emit_backward,
    .absorb_backward = absorb_backward,
    .flops = flops,
    .reference = reference};

}  // namespace linnet
