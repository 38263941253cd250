// inference.h -- logits of whole sequences: one a thread, or one long document over all threads.
#pragma once

#include <functional>
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
  // Of a classifier of tokens: visits the logits of the rows that are asked of each sequence, some
  // at a time and in order, which it may overwrite; different sequences on different threads.
  using VisitLogits =
      std::function<void(size_t sequence, std::span<const int64_t> rows, Mat logits)>;
  void token_logits(std::span<const Tokens> sequences, std::span<const std::vector<int64_t>> asked,
                    const VisitLogits& visit);
  // All of them, sequence by sequence [tokens, classes].
  std::vector<float> all_token_logits(std::span<const Tokens> sequences);

 private:
  BlockRun block_run(size_t layer, Workspace& workspace) const;
  void finish(size_t layer, MixerState& state, Workspace& workspace) const;
  void absorb_rows(size_t layer, ConstMat x, int64_t first, int64_t last, MixerState& state,
                   Workspace& workspace) const;
  // The block's answer in place of x; before: the conv.halo(first) rows in front of `first` as they
  // were. causal: state is the one before `first`, and absorbs as it goes.
  void emit_rows(size_t layer, Mat x, ConstMat before, int64_t first, int64_t last,
                 MixerState& state, Workspace& workspace) const;
  // Every sequence through the blocks, on one thread or, where it has more than one span, on all;
  // then use(sequence, rows, x, workspace) with the last block's output. before: the same with what
  // goes into the first.
  template <class Before, class Use>
  void encode(std::span<const Tokens> sequences, const Before& before, const Use& use);
  // Before anything is taken for these.
  void check_memory(std::span<const Tokens> sequences) const;
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
