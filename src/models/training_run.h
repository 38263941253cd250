// training_run.h -- one example forward and backward on one thread, its activations stored or
// recomputed.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "models/embedding.h"
#include "models/head.h"
#include "models/model.h"

namespace linnet {

// Of one sequence: dx [tokens, C], the gradient of what embeddings, positions and n-grams add up
// to.
using InputGradient = std::function<void(Tokens tokens, ConstMat dx)>;

struct TrainingOptions {
  bool recompute = false;  // keep only each block's input; compute the rest again in the backward
  float dropout = 0;
  uint64_t dropout_key = 0;  // of this example and step
  // If there is one, called in the backward, sequence by sequence in their order.
  InputGradient input_gradient = {};
};

// A place of the forward pass; its name is that of its output.
struct Stage {
  enum Kind { embedding, mixer, feed_forward, head } kind;
  size_t block = 0;  // of a mixer or a feed-forward layer
};
// The rows that a stage gave.
using VisitStage = std::function<void(const Stage& stage, int64_t rows, int64_t cols, ConstMat x)>;

// forward, then backward once. Takes memory from `workspace.keep` until it is destroyed; a second
// run in the same workspace reuses it. Gradients are added to the caller's block.
class TrainingRun {
 public:
  TrainingRun(const Model& model, const Sinusoids& sinusoids, const Weights& weights,
              Workspace& workspace, const TrainingOptions& options);

  // One example: as many sequences as the model takes. Returns the logits [classes].
  std::span<const float> forward(std::span<const Tokens> sequences);
  void backward(std::span<const float> dlogits, float* grads);

  // The same of a classifier of tokens. The logits are never there all at once: the backward makes
  // them for some of the tokens that have a target at a time, and `loss` puts their gradient in
  // their place. `classes`: the ones that logits are of, ascending; none: all.
  void forward_tokens(Tokens tokens);
  using TokenLoss = std::function<void(std::span<const int32_t> targets, Mat logits)>;
  void backward_tokens(std::span<const int32_t> targets, std::span<const int32_t> classes,
                       const TokenLoss& loss, float* grads);

  // After a forward: the residual stream behind every stage, in order, sequence by sequence; not
  // when recomputing. The head's logits are the caller's already.
  void visit_stages(const VisitStage& visit) const;

 private:
  // All that the backward of one sequence needs.
  struct Tape {
    Tokens tokens;
    uint64_t key = 0;
    int64_t rows = 0;
    std::vector<Mat> x;             // input of each block; output of the last, pooled rows only
    std::vector<BlockSaved> saved;  // of each block; empty when recomputing
    std::vector<std::vector<MixerState>> states;  // of each block: one, or one before each chunk
  };

  // From tokens to the last block's output, and from the gradient of that to the embeddings.
  Tape& encode(Tokens tokens);
  void encode_backward(const Tape& tape, const float* dvector, Mat dx, float* grads);
  BlockRun block_run(const Tape& tape, size_t layer);
  // Calls visit(chunk, saved) for the chunks of rows [first, last).
  template <class Visit>
  void for_each_chunk(const Tape& tape, size_t layer, int64_t first, int64_t last, bool reverse,
                      const Visit& visit);
  void forward_block(Tape& tape, size_t layer);
  void backward_block(const Tape& tape, size_t layer, Mat dx, float* grads);
  void backward_block_causal(const Tape& tape, size_t layer, Mat dx, float* grads);
  const MixerState& state_of(const Tape& tape, size_t layer, int64_t first) const;

  const Model& model_;
  const Sinusoids& sinusoids_;
  const Weights& weights_;
  Workspace& workspace_;
  Arena::Scope scope_;
  TrainingOptions options_;
  std::vector<Tape> tapes_;
  HeadTape head_;
  std::vector<float> logits_;
};

}  // namespace linnet
