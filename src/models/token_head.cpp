// token_head.cpp -- the classifier of tokens, forward and backward.
#include "models/token_head.h"

#include <algorithm>

#include "kernels/gemm.h"

namespace linnet {

std::vector<int64_t> rows_with_target(std::span<const int32_t> targets) {
  std::vector<int64_t> rows;
  for (size_t t = 0; t < targets.size(); ++t) {
    if (targets[t] >= 0) rows.push_back(static_cast<int64_t>(t));
  }
  return rows;
}

void gather_rows(std::span<const int64_t> rows, int64_t cols, ConstMat x, Mat y) {
  for (size_t i = 0; i < rows.size(); ++i)
    std::copy_n(x.row(rows[i]), cols, y.row(static_cast<int64_t>(i)));
}

TokenHead::TokenHead(const Model& model, const Weights& weights, std::span<const int32_t> classes,
                     Arena& keep)
    : model_(model),
      weights_(weights),
      some_(classes),
      linear_(model.head().front()),
      own_(weights) {
  if (classes.empty()) return;
  const Linear& all = model.head().front();
  const auto n = static_cast<int64_t>(classes.size());
  const int64_t C = all.in();
  linear_ = {.matrix = {.in = C, .out = n, .whole_in = C, .whole_out = n}, .bias = C * n};
  float* params = keep.take((C + 1) * n);
  // Row by row, and the bias as one row more: classes ascend, so the reads do.
  for (int64_t r = 0; r <= C; ++r) {
    const float* from = weights.params + (r < C ? all.matrix.weight + r * all.out() : all.bias);
    for (size_t i = 0; i < classes.size(); ++i)
      params[r * n + static_cast<int64_t>(i)] = from[classes[i]];
  }
  float* panels = keep.take(packed_floats(C, n));
  float* transposed = keep.take(packed_floats(n, C));
  pack(C, n, params, n, panels);
  pack_transposed(n, C, params, n, transposed);
  own_ = {.params = params, .packed = panels, .packed_transposed = transposed};
  kept_ = keep.take_zeroed((C + 1) * n);
}

void TokenHead::forward(int64_t rows, ConstMat x, Mat h, Mat logits) const {
  norm_forward(model_.final_norm(), weights_, rows, x, h);
  linear_forward(linear_, own_, rows, h, logits);
}

void TokenHead::backward(int64_t rows, ConstMat x, ConstMat h, ConstMat dlogits, Mat dx,
                         float* grads, Arena& scratch) {
  Arena::Scope scope(scratch);
  const Mat dh = take_mat(scratch, rows, model_.config().width);
  // logits = h W + b
  linear_backward_weights(linear_, rows, h, dlogits, kept_ ? kept_ : grads, scratch);
  linear_backward_input(linear_, own_, rows, dlogits, dh);
  // h = LN(x)
  norm_backward(model_.final_norm(), weights_, rows, x, dh, dx, grads);
}

void TokenHead::finish(float* grads) const {
  const Linear& all = model_.head().front();
  const int64_t C = all.in(), n = linear_.out();
  for (int64_t r = 0; kept_ && r <= C; ++r) {
    float* to = grads + (r < C ? all.matrix.weight + r * all.out() : all.bias);
    for (size_t i = 0; i < some_.size(); ++i)
      to[some_[i]] += kept_[r * n + static_cast<int64_t>(i)];
  }
}

}  // namespace linnet
