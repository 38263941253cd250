// memory_need.h -- what a model takes in memory, reckoned from its layout before any of it is
// there.
//
// Counted are the blocks of parameters and what stands beside them, and the activations of one
// sequence a thread, by the same sizes as the code that takes them. A lower bound, within some tens
// of megabytes: of what small buffers take, nothing is said.
#pragma once

#include "core/memory_budget.h"
#include "models/model.h"

namespace linnet {

// How many times over the numbers of a model are there.
struct WeightCopies {
  double dense = 1, packed = 1;  // of the dense part, and of the panels that products read
  double sparse = 1;             // of the table of n-grams behind it
  double side = 1;               // of what stands at its side
};
MemoryNeed weights_need(const Model& model, const WeightCopies& copies);

// Activations of one example of T tokens a sequence, on one thread.
double training_bytes(const Model& model, int64_t T, bool recompute);
double inference_bytes(const Model& model, int64_t T);

// A model that answers so many examples at a time, of T tokens, on so many threads. `copies`: of
// its weights.
MemoryNeed inference_need(const Model& model, int threads, int64_t examples, int64_t T,
                          double copies = 1);

}  // namespace linnet
