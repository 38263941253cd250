// feed_forward.cpp -- y = f(x W1 + b1, x W3 + b3) W2 + b2 + x W4: one hidden layer for every f.
//
// Forward: p = x W1 + b1 (hidden), q = x W3 + b3 (hidden, gated kinds only), g = f(p, q),
//   y = g W2 + b2, and + x W4 in kinds with a linear term.
// Backward: dg = dy W2^T, dp = dg df/dp, dq = dg df/dq, dx = dp W1^T + dq W3^T + dy W4^T;
//   dW2 += g^T dy, db2 += sum dy, dW1 += x^T dp, db1 += sum dp, dW3 and db3 likewise from dq,
//   dW4 += x^T dy.
// The hidden units go by in blocks of 256: rows x 256 floats stay in L2 where rows x hidden would
// not. Cost: 4 C hidden a token, gated 6 C hidden, linear + 2 C^2. Saved: p and q; g is recomputed
// in the pass that needs the derivatives of f anyway.
#include "layers/feed_forward.h"

#include <algorithm>

#include "kernels/activations.h"
#include "kernels/rows.h"

namespace linnet {
namespace {

constexpr int64_t kBlock = 256;

// The column of what is saved at which q starts: its rows begin where vectors do.
int64_t gate_column(const FeedForwardPlan& plan) { return round_up(plan.hidden, kAlignFloats); }

// Hidden units [first_unit, first_unit + units) of a projection: p = x W + b.
void project(const Linear& linear, const FeedForwardRun& run, int64_t rows, int64_t first_unit,
             int64_t units, ConstMat x, Mat p) {
  matrix_forward(linear.matrix.columns(first_unit, units), run.weights, rows, x, p,
                 run.weights.params + linear.bias + first_unit);
}

// p = x W + b, so dW += x^T dp, db += sum dp, dx = dp W^T or, with `accumulate`, dx += dp W^T.
void project_backward(const Linear& linear, const FeedForwardRun& run, int64_t rows,
                      int64_t first_unit, int64_t units, ConstMat x, ConstMat dp, Mat dx,
                      bool accumulate, float* grads) {
  const Matrix matrix = linear.matrix.columns(first_unit, units);
  matrix_backward_weights(matrix, rows, x, dp, grads, run.scratch);
  add_column_sums(rows, units, dp, grads + linear.bias + first_unit);
  matrix_backward_input(matrix, run.weights, rows, dp, dx, accumulate);
}

// Dropout of hidden units [first_unit, ...): each block draws from its own key.
void drop_hidden(const FeedForwardRun& run, int64_t rows, int64_t first, int64_t first_unit,
                 int64_t units, Mat g) {
  if (run.dropout > 0) {
    dropout(rows, units, g, run.dropout, run.dropout_key + static_cast<uint64_t>(first_unit),
            first);
  }
}

}  // namespace

void FeedForward::build(ParamLayout& layout, const std::string& prefix,
                        FeedForwardPlan& plan) const {
  const int64_t C = plan.width;
  plan.in = add_linear(layout, prefix + ".in", C, plan.hidden);
  if (gated) plan.gate = add_linear(layout, prefix + ".gate", C, plan.hidden);
  plan.out = add_linear(layout, prefix + ".out", plan.hidden, C);
  if (linear) {
    const int64_t weight = layout.add(prefix + ".linear.weight", {C, C}, Init::xavier, 1.0f, true);
    plan.linear = layout.matrix(weight, C, C);
  }
}

int64_t FeedForward::saved_floats(const FeedForwardPlan& plan) const {
  return plan.hidden + (gated ? gate_column(plan) : 0);
}

void FeedForward::forward(const FeedForwardRun& run, int64_t rows, int64_t first, ConstMat x,
                          Mat saved, Mat y) const {
  const FeedForwardPlan& plan = run.plan;
  Arena::Scope scope(run.scratch);
  const int64_t widest = std::min(kBlock, plan.hidden);
  const Mat g = take_mat(run.scratch, rows, widest);
  const Mat unsaved_q = gated && !saved.data ? take_mat(run.scratch, rows, widest) : Mat{};
  for (int64_t b = 0; b < plan.hidden; b += kBlock) {
    const int64_t units = std::min(kBlock, plan.hidden - b);
    const Mat p = saved.data ? saved.columns(b) : g;
    project(plan.in, run, rows, b, units, x, p);
    Mat q;
    if (gated) {
      q = saved.data ? saved.columns(gate_column(plan) + b) : unsaved_q;
      project(plan.gate, run, rows, b, units, x, q);
    }
    if (!y.data) continue;
    activate(rows, units, p, q, g);
    drop_hidden(run, rows, first, b, units, g);
    matrix_forward(plan.out.matrix.rows(b, units), run.weights, rows, g, y,
                   b == 0 ? run.weights.params + plan.out.bias : nullptr, true);
  }
  if (linear && y.data) matrix_forward(plan.linear, run.weights, rows, x, y, nullptr, true);
}

void FeedForward::backward(const FeedForwardRun& run, int64_t rows, int64_t first, ConstMat x,
                           ConstMat saved, ConstMat dy, Mat dx, float* grads) const {
  const FeedForwardPlan& plan = run.plan;
  Arena::Scope scope(run.scratch);
  const int64_t widest = std::min(kBlock, plan.hidden);
  const Mat g = take_mat(run.scratch, rows, widest), dp = take_mat(run.scratch, rows, widest);
  const Mat dq = gated ? take_mat(run.scratch, rows, widest) : Mat{};
  const float* packed_dy = pack_gradient(rows, plan.width, dy, run.scratch);
  add_column_sums(rows, plan.width, dy, grads + plan.out.bias);
  if (linear) {
    // y = ... + x W4, so:
    matrix_backward_weights(plan.linear, rows, x, packed_dy, grads);
    matrix_backward_input(plan.linear, run.weights, rows, dy, dx);
  }
  for (int64_t b = 0; b < plan.hidden; b += kBlock) {
    const int64_t units = std::min(kBlock, plan.hidden - b);
    const Matrix out = plan.out.matrix.rows(b, units);
    // y = g W2 and g = drop(f(p, q)), so dp = drop(dy W2^T) df/dp, and dq likewise.
    matrix_backward_input(out, run.weights, rows, dy, dp);
    drop_hidden(run, rows, first, b, units, dp);
    const ConstMat q = gated ? saved.columns(gate_column(plan) + b) : ConstMat{};
    activate_backward(rows, units, saved.columns(b), q, dp, g, dp, dq);
    drop_hidden(run, rows, first, b, units, g);
    matrix_backward_weights(out, rows, g, packed_dy, grads);
    project_backward(plan.in, run, rows, b, units, x, dp, dx, linear || b > 0, grads);
    if (gated) project_backward(plan.gate, run, rows, b, units, x, dq, dx, true, grads);
  }
}

double FeedForward::flops(const FeedForwardPlan& plan) const {
  const auto C = static_cast<double>(plan.width), hidden = static_cast<double>(plan.hidden);
  return (gated ? 6 : 4) * C * hidden + (linear ? 2 * C * C : 0);
}

int64_t FeedForward::parameters(int64_t width, int64_t hidden) const {
  const int64_t in = (width + 1) * hidden, out = (hidden + 1) * width;
  return (gated ? 2 : 1) * in + out + (linear ? width * width : 0);
}

int64_t FeedForward::hidden_for(int64_t width, int64_t count) const {
  const int64_t fixed = parameters(width, 0), unit = parameters(width, 1) - fixed;
  return std::max<int64_t>(1, (count - fixed + unit / 2) / unit);
}

void FeedForward::reference(const FeedForwardPlan& plan, const std::complex<double>* params,
                            const std::complex<double>* x, std::complex<double>* y) const {
  using Complex = std::complex<double>;
  const int64_t C = plan.width, hidden = plan.hidden;
  for (int64_t c = 0; c < C; ++c) {
    y[c] = params[plan.out.bias + c];
    for (int64_t i = 0; linear && i < C; ++i) y[c] += x[i] * params[plan.linear.weight + i * C + c];
  }
  const auto unit = [&](const Linear& projection, int64_t u) {
    Complex p = params[projection.bias + u];
    for (int64_t c = 0; c < C; ++c) p += x[c] * params[projection.matrix.weight + c * hidden + u];
    return p;
  };
  for (int64_t u = 0; u < hidden; ++u) {
    const Complex g = exact(unit(plan.in, u), gated ? unit(plan.gate, u) : 0);
    for (int64_t c = 0; c < C; ++c) y[c] += g * params[plan.out.matrix.weight + u * C + c];
  }
}

}  // namespace linnet
