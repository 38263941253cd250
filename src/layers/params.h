// params.h -- one flat block of parameters: layers ask for named pieces of it and keep their
// offsets.
//
// The block has two parts. The first is dense: gradients and what the optimiser keeps are blocks of
// the same layout, dense_floats() long. The tail is tables of which a step touches few rows: they
// are saved, loaded and counted as all others, but whole blocks of zeros beside them, several times
// over, would cost more than the model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/arena.h"
#include "core/context.h"

namespace linnet {

enum class Init {
  zeros,
  ones,
  first_ones,  // the first of the rows of shape.back() numbers; the others zeros
  normal,      // sd = gain
  xavier,      // uniform, +- gain * sqrt(6 / (in + out)) of the last two dimensions
  // The last two dimensions [in, out] of each slice: W W^T = I, or W^T W = I where out < in.
  orthogonal,
  // Columns orthogonal to each other in blocks of `in`, each as long as a normal vector is.
  orthogonal_normal,
};

struct ParamSpec {
  std::string name;
  std::vector<int64_t> shape;
  Init init;
  float gain;
  bool decay;      // weight decay applies: matrices, not norms and biases
  int64_t offset;  // in floats, within the block
  bool learned = true;
  int64_t redraw = 0;   // not learned: drawn anew every so many steps; 0: never
  bool sparse = false;  // of the tail: its gradient is in no dense block
  int64_t size() const;
};

// A matrix [in, out] of the block that products use, or a slice of one: where its numbers are,
// plain and packed.
struct Matrix {
  int64_t in = 0, out = 0;
  int64_t whole_in = 0, whole_out = 0;  // of the matrix that this is a slice of
  int64_t weight = 0;                   // offset in the parameter block; rows are whole_out apart
  int64_t packed = 0;                   // offset in Weights::packed: panels of W
  int64_t packed_transposed = 0;        // offset in Weights::packed_transposed: panels of W^T
  // Columns [first, first + n) of W, first a multiple of 16; rows likewise.
  Matrix columns(int64_t first, int64_t n) const;
  Matrix rows(int64_t first, int64_t n) const;
};

// Parameters as the layers see them: the plain block, panels of every matrix for the forward, and
// panels of its transpose for the input gradient (null at inference).
struct Weights {
  const float* params = nullptr;
  const float* packed = nullptr;
  const float* packed_transposed = nullptr;
};

class ParamLayout {
 public:
  // Adds a parameter; returns its offset.
  int64_t add(std::string name, std::vector<int64_t> shape, Init init, float gain, bool decay);
  // Adds numbers that are drawn and kept in the file, but not learned.
  int64_t add_fixed(std::string name, std::vector<int64_t> shape, Init init, int64_t redraw);
  // Adds a table of zeros [rows, ...] whose gradient is sparse; only more of them may follow.
  int64_t add_sparse(std::string name, std::vector<int64_t> shape);
  // The numbers at `offset` start `factor` times as large; not those of an orthogonal start.
  void scale_start(int64_t offset, double factor);
  // Registers the matrix [in, out] at `weight` for packing.
  Matrix matrix(int64_t weight, int64_t in, int64_t out);

  // The regulariser of training pulls this matrix towards W W^T = I (W^T W where out < in).
  void keep_orthogonal(const Matrix& m) { orthogonal_.push_back(m); }

  const std::vector<ParamSpec>& specs() const { return specs_; }
  const std::vector<Matrix>& orthogonal() const { return orthogonal_; }
  int64_t floats() const { return floats_; }         // size of the block, with alignment gaps
  int64_t dense_floats() const { return dense_; }    // of its part before the sparse tail
  int64_t parameters() const;                        // numbers that are learned
  int64_t packed_floats() const { return packed_; }  // size of each packed block

  // Every parameter by its Init, from (seed, its number) alone.
  void initialise(uint64_t seed, float* params) const;
  // What is due to be drawn anew after `step` steps, from (seed, step) alone.
  void redraw(uint64_t seed, int64_t step, float* params) const;
  void pack(Context& context, const float* params, float* packed, float* packed_transposed) const;

 private:
  int64_t append(std::string name, std::vector<int64_t> shape, Init init, float gain, bool decay);

  std::vector<ParamSpec> specs_;
  std::vector<Matrix> matrices_, orthogonal_;
  int64_t floats_ = 0, dense_ = 0, packed_ = 0;
};

}  // namespace linnet
