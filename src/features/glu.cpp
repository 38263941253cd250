// glu.cpp -- gated units: GLU, orthogonal OGLU, low-rank AOGLU.
//
// Forward, head by head: f = x Wf, g = x Wg, phi = f sigmoid(g); the last unit of a chain has
// Softplus(f) sigmoid(g) > 0. AOGLU: Wg = A B with A (D,r), B (r,F), r = D/4 unless given.
// OGLU, AOGLU: Wf orthogonal at the start and pulled towards Wf Wf^T = I in training.
// Backward: f and g are computed again, then (kernels/pairs.h)
//   df = dphi sigmoid(g) f'(f),   dg = dphi f(f) sigmoid'(g),
//   dx = df Wf^T + dg Wg^T,   dWf += x^T df,   dWg += x^T dg.
// Cost: 4 D F a head and token, AOGLU 2 (D F + D r + r F). Kept: nothing but x.
// Paper: Yorsh and Kovalenko 2022; the unit is Dauphin et al. 2017.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "features/head_matrices.h"
#include "kernels/pairs.h"
#include "layers/linear.h"

namespace linnet {
namespace {

enum Which : int64_t { kValue, kGate, kGateOut };

void build_unit(ParamLayout& layout, const std::string& name, FeaturePlan& plan, bool orthogonal) {
  if (plan.out == 0) plan.out = plan.in;
  const HeadInit value{.init = orthogonal ? Init::orthogonal : Init::xavier,
                       .orthogonal = orthogonal};
  add_head_matrices(layout, name + ".value", plan.in, plan.out, value, plan);
}

// Normal numbers of sd sqrt(2 / in).
void add_gate(ParamLayout& layout, const std::string& name, int64_t in, int64_t out,
              FeaturePlan& plan) {
  const float sd = std::sqrt(2.0f / static_cast<float>(in));
  add_head_matrices(layout, name, in, out, {.init = Init::normal, .gain = sd}, plan);
}

void build_glu(ParamLayout& layout, const std::string& name, FeaturePlan& plan) {
  build_unit(layout, name, plan, false);
  add_gate(layout, name + ".gate", plan.in, plan.out, plan);
}
void build_oglu(ParamLayout& layout, const std::string& name, FeaturePlan& plan) {
  build_unit(layout, name, plan, true);
  add_gate(layout, name + ".gate", plan.in, plan.out, plan);
}
void build_aoglu(ParamLayout& layout, const std::string& name, FeaturePlan& plan) {
  if (plan.rank > 0 && 2 * plan.rank >= plan.in) {
    throw Error(fmt::format("{} rank r={} must be below half the head's width of {}", plan.place,
                            plan.rank, plan.in));
  }
  if (plan.rank == 0) plan.rank = std::max<int64_t>(1, plan.in / 4);
  build_unit(layout, name, plan, true);
  add_gate(layout, name + ".gate_in", plan.in, plan.rank, plan);
  add_gate(layout, name + ".gate_out", plan.rank, plan.out, plan);
}

Pair pair_of(const FeaturePlan& plan) { return plan.last ? Pair::positive_glu : Pair::glu; }

// g, and x A on the way to it where the gate has a low rank.
struct Gate {
  Mat low, g;
};
Gate gate_forward(const FeatureRun& run, int64_t rows, ConstMat x) {
  const FeaturePlan& plan = run.plan;
  Gate gate{{}, take_mat(run.scratch, rows, plan.heads * plan.out)};
  if (plan.rank == 0) {
    heads_forward(run, kGate, rows, x, gate.g);
  } else {
    gate.low = take_mat(run.scratch, rows, plan.heads * plan.rank);
    heads_forward(run, kGate, rows, x, gate.low);
    heads_forward(run, kGateOut, rows, gate.low, gate.g);
  }
  return gate;
}

void forward(const FeatureRun& run, int64_t rows, ConstMat x, Mat phi) {
  Arena::Scope scope(run.scratch);
  heads_forward(run, kValue, rows, x, phi);
  const Gate gate = gate_forward(run, rows, x);
  pair_forward(pair_of(run.plan), rows, run.plan.heads * run.plan.out, phi, gate.g, phi);
}

void backward(const FeatureRun& run, int64_t rows, ConstMat x, ConstMat, Mat dphi, Mat dx,
              float* grads) {
  const FeaturePlan& plan = run.plan;
  Arena::Scope scope(run.scratch);
  const Mat f = take_mat(run.scratch, rows, plan.heads * plan.out);
  heads_forward(run, kValue, rows, x, f);
  const Gate gate = gate_forward(run, rows, x);
  // phi = f(f) sigmoid(g): df and dg in the places of f and g.
  pair_backward(pair_of(plan), rows, plan.heads * plan.out, f, gate.g, dphi, {}, f, gate.g);
  heads_backward(run, kValue, rows, x, f, dx, false, grads);
  if (plan.rank == 0) return heads_backward(run, kGate, rows, x, gate.g, dx, true, grads);
  // g = (x A) B, so d(x A) = dg B^T.
  const Mat dlow = take_mat(run.scratch, rows, plan.heads * plan.rank);
  heads_backward(run, kGateOut, rows, gate.low, gate.g, dlow, false, grads);
  heads_backward(run, kGate, rows, x, dlow, dx, true, grads);
}

void reference(const FeaturePlan& plan, const Complex* params, int64_t head, const Complex* x,
               Complex* phi) {
  std::vector<Complex> g(static_cast<size_t>(plan.out)), low(static_cast<size_t>(plan.rank));
  head_reference(plan.matrix(kValue, head), params, x, phi);
  if (plan.rank == 0) {
    head_reference(plan.matrix(kGate, head), params, x, g.data());
  } else {
    head_reference(plan.matrix(kGate, head), params, x, low.data());
    head_reference(plan.matrix(kGateOut, head), params, low.data(), g.data());
  }
  for (int64_t f = 0; f < plan.out; ++f)
    phi[f] = exact_pair(pair_of(plan), phi[f], g[static_cast<size_t>(f)]);
}

constexpr Feature unit(std::string_view name, std::string_view formula, std::string_view summary,
                       std::string_view cost, std::string_view options,
                       void (*build)(ParamLayout&, const std::string&, FeaturePlan&)) {
  return {.name = name,
          .formula = formula,
          .summary = summary,
          .paper = "Yorsh and Kovalenko 2022",
          .cost = cost,
          .positive = true,
          .options = options,
          .build = build,
          .forward = forward,
          .backward = backward,
          .activate = nullptr,
          .reference = reference};
}

}  // namespace

extern const Feature kGluFeature = unit(
    "glu", "(x Wf) sigmoid(x Wg), at the end Softplus(x Wf) sigmoid(x Wg)",
    "gated unit: bends more than one layer, for twice the parameters", "O(D F)", "f", build_glu);
extern const Feature kOgluFeature =
    unit("oglu", "as glu, Wf Wf^T = I", "gated unit with orthogonal values: the paper's best",
         "O(D F)", "f", build_oglu);
extern const Feature kAogluFeature =
    unit("aoglu", "as oglu, Wg = A B of rank r", "with a low-rank gate: deeper at the same cost",
         "O(D F + D r + r F)", "f r", build_aoglu);

}  // namespace linnet
