// token_head.h -- logits of rows by themselves: final LayerNorm, Linear; of all classes, or of some
// of a large vocabulary.
//
// h = LN(x), logits = h W + b; of some classes S the columns W_S and b_S. These are copied into a
// small layer of their own, so that forward and backward are those of any Linear, and its gradients
// are added to the columns at the end. Only rows that are asked for are computed: most tokens of a
// masked text, and most pieces of tagged words, have no target.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/model.h"

namespace linnet {

// The rows whose target is not -1.
std::vector<int64_t> rows_with_target(std::span<const int32_t> targets);
// y[i,:] = x[rows[i],:].
void gather_rows(std::span<const int64_t> rows, int64_t cols, ConstMat x, Mat y);

class TokenHead {
 public:
  // Of `classes`, ascending; none: of all. What is copied stays in `keep`.
  TokenHead(const Model& model, const Weights& weights, std::span<const int32_t> classes,
            Arena& keep);
  int64_t classes() const { return linear_.out(); }

  // h = LN(x), which the backward takes again.
  void forward(int64_t rows, ConstMat x, Mat h, Mat logits) const;
  // dx +=, parameters' gradients +=; those of some classes wait for finish().
  void backward(int64_t rows, ConstMat x, ConstMat h, ConstMat dlogits, Mat dx, float* grads,
                Arena& scratch);
  void finish(float* grads) const;

 private:
  const Model& model_;
  const Weights& weights_;
  std::span<const int32_t> some_;
  Linear linear_;
  Weights own_;            // that linear_ is of
  float* kept_ = nullptr;  // gradients of some classes, in the layout of linear_
};

}  // namespace linnet
