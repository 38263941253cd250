// inference.h -- logits of whole sequences: one a thread, or one long document over all threads.
#pragma once

#include <span>
#include <vector>

#include "models/embedding.h"
#include "models/model.h"

namespace linnet {

// Rows that one thread absorbs before states are merged. A longer sequence is cut into spans of
// this size whatever the number of threads, so that the result is the same bit for bit on one
// thread and on many.
inline constexpr int64_t kSpan = 144 * kChunk;

// A model ready for use: weights packed and folded, one workspace a thread. Not for two callers at
// once.
class Inference {
 public:
  // span: a multiple of kChunk.
  Inference(Context& context, const Model& model, Block values, int64_t span = kSpan);

  // Logits [examples, classes] of sequences.size() / model.sequences() examples. A batch gives bit
  // for bit what its examples give one by one.
  std::vector<float> logits(std::span<const Tokens> sequences);

 private:
  BlockRun block_run(size_t layer, Workspace& workspace) const;
  void finish(size_t layer, MixerState& state, Workspace& workspace) const;
  void absorb_rows(size_t layer, ConstMat x, int64_t first, int64_t last, MixerState& state,
                   Workspace& workspace) const;
  // The block's answer in place of x; before: the conv.halo(first) rows in front of `first` as they
  // were. causal: state is the one before `first`, and absorbs as it goes.
  void emit_rows(size_t layer, Mat x, ConstMat before, int64_t first, int64_t last,
                 MixerState& state, Workspace& workspace) const;
  // One sequence to its pooled vector [C], on one thread or, span by span, on all.
  void encode(Tokens tokens, Workspace& workspace, bool all_threads, float* vector);
  void run_block(size_t layer, Mat x, int64_t rows, bool all_threads, Workspace& workspace);

  Context& context_;
  const Model& model_;
  Parameters parameters_;
  Weights weights_;
  Sinusoids sinusoids_;
  int64_t span_;
  std::vector<Workspace> workspaces_;
};

}  // namespace linnet
