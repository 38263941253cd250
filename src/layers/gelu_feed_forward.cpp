// gelu_feed_forward.cpp -- y = gelu(x W1 + b1) W2 + b2: the feed-forward layer of the Transformer.
//
// Forward: p = x W1 + b1 (hidden), g = gelu(p), y = g W2 + b2.
// Backward: dg = dy W2^T, dp = dg gelu'(p), dx = dp W1^T;
//   dW2 += g^T dy, db2 += sum dy, dW1 += x^T dp, db1 += sum dp.
// The hidden units go by in blocks of 256: rows x 256 floats stay in L2 where rows x hidden would
// not. Cost: 4 C hidden a token. Saved: p; g is recomputed in the pass that needs gelu'(p) anyway.
// Paper: Hendrycks and Gimpel, "Gaussian error linear units", 2016 (tanh form, as in the LRA
// recipe).
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/activations.h"
#include "kernels/rows.h"
#include "layers/feed_forward.h"

namespace linnet {
namespace {

constexpr int64_t kBlock = 256;

void build(ParamLayout& layout, const std::string& name, FeedForwardPlan& plan) {
  plan.in = add_linear(layout, name + ".in", plan.width, plan.hidden);
  plan.out = add_linear(layout, name + ".out", plan.hidden, plan.width);
}

int64_t saved_floats(const FeedForwardPlan& plan) { return plan.hidden; }

// Dropout of hidden units [first_unit, ...): each block draws from its own key.
void drop_hidden(const FeedForwardRun& run, int64_t rows, int64_t first, int64_t first_unit,
                 int64_t units, Mat g) {
  if (run.dropout > 0) {
    dropout(rows, units, g, run.dropout, run.dropout_key + static_cast<uint64_t>(first_unit),
            first);
  }
}

void forward(const FeedForwardRun& run, int64_t rows, int64_t first, ConstMat x, Mat saved, Mat y) {
  const FeedForwardPlan& plan = run.plan;
  Arena::Scope scope(run.scratch);
  const Mat g = take_mat(run.scratch, rows, std::min(kBlock, plan.hidden));
  for (int64_t b = 0; b < plan.hidden; b += kBlock) {
    const int64_t units = std::min(kBlock, plan.hidden - b);
    const Mat p = saved.data ? saved.columns(b) : g;
    matrix_forward(plan.in.matrix.columns(b, units), run.weights, rows, x, p,
                   run.weights.params + plan.in.bias + b);
    if (!y.data) continue;
    gelu_forward(rows, units, p, g);
    drop_hidden(run, rows, first, b, units, g);
    matrix_forward(plan.out.matrix.rows(b, units), run.weights, rows, g, y,
                   b == 0 ? run.weights.params + plan.out.bias : nullptr, true);
  }
}

void backward(const FeedForwardRun& run, int64_t rows, int64_t first, ConstMat x, ConstMat saved,
              ConstMat dy, Mat dx, float* grads) {
  const FeedForwardPlan& plan = run.plan;
  Arena::Scope scope(run.scratch);
  const Mat g = take_mat(run.scratch, rows, std::min(kBlock, plan.hidden));
  const Mat dp = take_mat(run.scratch, rows, std::min(kBlock, plan.hidden));
  const float* packed_dy = pack_gradient(rows, plan.width, dy, run.scratch);
  add_column_sums(rows, plan.width, dy, grads + plan.out.bias);
  for (int64_t b = 0; b < plan.hidden; b += kBlock) {
    const int64_t units = std::min(kBlock, plan.hidden - b);
    const Matrix in = plan.in.matrix.columns(b, units), out = plan.out.matrix.rows(b, units);
    // y = g W2 and g = drop(gelu(p)), so dp = drop(dy W2^T) gelu'(p).
    matrix_backward_input(out, run.weights, rows, dy, dp);
    drop_hidden(run, rows, first, b, units, dp);
    gelu_backward(rows, units, saved.columns(b), dp, g, dp);
    drop_hidden(run, rows, first, b, units, g);
    matrix_backward_weights(out, rows, g, packed_dy, grads);
    // p = x W1 + b1, so:
    matrix_backward_weights(in, rows, x, dp, grads, run.scratch);
    add_column_sums(rows, units, dp, grads + plan.in.bias + b);
    matrix_backward_input(in, run.weights, rows, dp, dx, b > 0);
  }
}

double flops(const FeedForwardPlan& plan) {
  return 4.0 * static_cast<double>(plan.width) * static_cast<double>(plan.hidden);
}

void reference(const FeedForwardPlan& plan, const std::complex<double>* params,
               const std::complex<double>* x, std::complex<double>* y) {
  using Complex = std::complex<double>;
  const int64_t C = plan.width, hidden = plan.hidden;
  for (int64_t c = 0; c < C; ++c) y[c] = params[plan.out.bias + c];
  for (int64_t u = 0; u < hidden; ++u) {
    Complex p = params[plan.in.bias + u];
    for (int64_t c = 0; c < C; ++c) p += x[c] * params[plan.in.matrix.weight + c * hidden + u];
    const Complex inner = std::sqrt(2 / M_PI) * (p + 0.044715 * p * p * p);
    const Complex g = 0.5 * p * (1.0 + std::tanh(inner));
    for (int64_t c = 0; c < C; ++c) y[c] += g * params[plan.out.matrix.weight + u * C + c];
  }
}

}  // namespace

extern const FeedForward kGeluFeedForward = {
    .name = "gelu",
    .formula = "gelu(x W1 + b1) W2 + b2",
    .summary = "the Transformer's own",
    .paper = "Hendrycks and Gimpel 2016",
    .cost = "O(C h)",
    .build = build,
    .saved_floats = saved_floats,
    .forward = forward,
    .backward = backward,
    .flops = flops,
    .reference = reference,
};

}  // namespace linnet
