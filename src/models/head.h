// head.h -- from rows to logits: final LayerNorm, the mean of the pooled rows, Linear (GELU
// Linear)*. Of every row by itself: token_head.h.
//
// Forward: z = mean_r LN(x_r) over the pooled rows (all, or the one of CLS or the last token), or
// with mean-first z = LN(mean_r x_r), where a token may weigh little or much, or with max z =
// LN(max_r x_r), where one token is enough; p_0
// = z W_0 + b_0, p_i = gelu(p_{i-1}) W_i + b_i. Backward in reverse; p_i are kept, gelu is computed
// again. A matcher has z = (u, v) of its two sequences, or with `compare` z = (u, v, u v, u - v),
// as in the code of Long Range Arena: whether two texts are alike is a product. With `distance` it
// has |u - v| instead (Conneau et al. 2017): that they are near each other, in the first order.
#pragma once

#include <cstdint>
#include <vector>

#include "models/model.h"

namespace linnet {

// Pooled rows of a sequence of `rows` rows: [first, last).
struct RowRange {
  int64_t first, last;
  int64_t count() const { return last - first; }
};
RowRange pooled_rows(const Model& model, int64_t rows);
// Rows that block `layer` must answer: all, but of the last block only the pooled ones (causal: all
// the same, since the chunks hang together).
RowRange answered_rows(const Model& model, size_t layer, int64_t rows);

void pool_forward(const Model& model, const Weights& weights, int64_t rows, ConstMat x,
                  Arena& scratch, float* vector);
// dx +=, parameters' gradients +=.
void pool_backward(const Model& model, const Weights& weights, int64_t rows, ConstMat x,
                   const float* dvector, Mat dx, float* grads, Arena& scratch);

// The second half of the vector, where the model has a bag: of the rows that went into the blocks.
void bag_forward(const Model& model, const Weights& weights, int64_t rows, ConstMat x,
                 Arena& scratch, float* vector);
// dx +=, parameters' gradients +=.
void bag_backward(const Model& model, const Weights& weights, int64_t rows, ConstMat x,
                  const float* dvector, Mat dx, float* grads, Arena& scratch);

// What the head's backward needs: its input and what went into each GELU.
using HeadTape = std::vector<const float*>;
// `vectors` are those of all sequences of the example, side by side.
HeadTape head_forward(const Model& model, const Weights& weights, const float* vectors, Arena& keep,
                      float* logits);
// dvectors =, parameters' gradients +=.
void head_backward(const Model& model, const Weights& weights, const HeadTape& tape,
                   const float* dlogits, float* dvectors, float* grads, Arena& scratch);

}  // namespace linnet
