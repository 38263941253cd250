// sparse_adagrad.h -- the gradient of the table of n-grams as the rows that are owed it, and its
// row-wise Adagrad.
//
// The table has hundreds of thousands of rows, a batch touches some thousands: gradient, clearing
// and update go over those alone. What a row is owed is dx of the tokens that used it, so dx of
// every sequence is kept until the step; then for every row that was used, with
//   g = scale * sum of its dx, in the order of sequences and tokens:
//   a += mean(g^2),   row -= rate * g / (sqrt(a) + eps).
// One number a row (Duchi et al. 2011 have one a weight): a row that is rarely used takes large
// steps whenever it is. Rows are cut into ranges that depend on no thread, each summed on one: the
// result is the same bit for bit on any number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/arena.h"
#include "core/context.h"
#include "core/view.h"
#include "models/ngram_table.h"

namespace linnet {

class SparseAdagrad {
 public:
  // A table with longest = 0 has no row: nothing is kept, a step does nothing.
  explicit SparseAdagrad(const NgramTable& table);

  // Makes room for so many more sequences; returns the number of the first of them.
  size_t expect(size_t sequences);
  // The gradient dx [tokens, width] of what the rows of a sequence were added to; from any thread,
  // once for each number.
  void keep(size_t number, std::span<const int32_t> tokens, ConstMat dx);
  // sum [buckets, width] += all that is kept.
  void add_to(float* sum) const;
  // One step with the kept gradients * scale, which are then forgotten; values: the parameter
  // block.
  void step(Context& context, float rate, float scale, float* values);

  // Without a step.
  void forget() { kept_ = 0; }

  // a of every row: the state that a resumed training needs.
  Block& accumulators() { return squares_; }
  const Block& accumulators() const { return squares_; }

 private:
  struct Use {
    uint32_t row, token;
    auto operator<=>(const Use&) const = default;
  };
  struct Sequence {
    std::vector<Use> uses;  // sorted
    std::vector<float> dx;  // [tokens, width]
  };
  // Calls visit(row, sum of its dx) for the rows in [first, last) that were used, in order.
  template <class Visit>
  void for_each_row(int64_t first, int64_t last, const Visit& visit) const;

  NgramTable table_;
  Block squares_;
  std::vector<Sequence> sequences_;  // those from kept_ on are memory to be used again
  size_t kept_ = 0;
};

}  // namespace linnet
