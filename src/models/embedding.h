// embedding.h -- tokens to rows: x_0 = CLS (where there is one), x_t = E[token_t] + position_t +
// its n-grams, then dropout.
//
// Positions: learned (a table), sinusoidal, or none. Sinusoidal: sin and cos of t w_i, w_i =
// 10000^(-2i/C). They are computed for any t by the addition theorem: sin and cos of t0 w_i once a
// chunk in double, of r w_i for the rows r of a chunk once a Positions object:
//   sin((t0 + r) w) = sin(t0 w) cos(r w) + cos(t0 w) sin(r w),  cos likewise.
// n-grams: ngram_table.h.
// Backward: dE[token_t] += dx_t, dposition_t += dx_t, dCLS += dx_0.
#pragma once

#include <cstdint>
#include <vector>

#include "models/model.h"

namespace linnet {

// sin and cos of r w_i for the rows of a chunk; shared by all threads.
class Sinusoids {
 public:
  explicit Sinusoids(int64_t width);
  // x[r, :] += the position of token first + r.
  void add_to(int64_t rows, int64_t first, Mat x) const;

 private:
  int64_t width_;
  std::vector<double> rates_;           // w_i
  std::vector<float> sines_, cosines_;  // [kChunk][C/2]
};

// Rows [first, first + rows) of the encoder's input. dropout_key belongs to this sequence and step.
void embed_forward(const Model& model, const Sinusoids& sinusoids, const float* params,
                   Tokens tokens, int64_t rows, int64_t first, float dropout_rate,
                   uint64_t dropout_key, Mat x);
// dx, with the dropout taken back, is left to the caller: it is what the rows of n-grams are owed.
void embed_backward(const Model& model, Tokens tokens, int64_t rows, int64_t first,
                    float dropout_rate, uint64_t dropout_key, Mat dx, float* grads);

}  // namespace linnet
