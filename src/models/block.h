// block.h -- a pre-LN block, run chunk by chunk: x += mix(conv(LN1(x))), x += ffn(LN2(x)).
//
// Sweep 1 over the chunks: k and v of g, prepared and absorbed. Sweep 2: q of g, emitted,
// projected, added; then the feed-forward layer. Here g = LN1(x), or with `conv` the short
// convolution of LN1(x) over time. Causal blocks do both in one sweep. Between two chunks
// everything stays in L2; only the convolution looks across, at LN1 of a few rows before. The
// backward runs the same sweeps in reverse; what it needs was saved by the forward, or is computed
// again chunk by chunk into scratch (recompute): the same functions, other views.
#pragma once

#include <cstdint>
#include <string>

#include "layers/feed_forward.h"
#include "layers/layer_norm.h"
#include "layers/linear.h"
#include "layers/short_conv.h"
#include "mixers/mixer.h"

namespace linnet {

// Tokens that go through a block together: rows x C and rows x 256 hidden units fit in L2 beside
// the weights' panels. A multiple of the 6 rows of a tile (4-row tiles cannot fill the pipes), and
// of the 8 steps by which the tile's loop is unrolled, since weight gradients sum over these rows.
inline constexpr int64_t kChunk = 120;
static_assert(kMostTaps <= kChunk);

struct BlockPlan {
  int64_t width = 0;
  const Mixer* mixer = nullptr;
  MixerPlan mix;
  const FeedForward* ffn = nullptr;
  FeedForwardPlan feed;
  LayerNorm norm1, norm2;
  ShortConv conv;
  Linear q, k, v, out;
};

// What a call runs with; dropout_key belongs to this sequence, step and layer.
struct BlockRun {
  const BlockPlan& plan;
  const Weights& weights;
  Arena& scratch;
  bool folded = false, keep = false;
  float dropout = 0;
  uint64_t dropout_key = 0;
  MixerRun mixer() const;
  FeedForwardRun feed() const;
};

// Rows of activations that the backward needs. For a whole sequence, what is cheap to have again
// (keys, and y of most mixers) is left out; for one chunk all is there.
struct BlockSaved {
  Mat q, k, v, keys, emitted, y, mid, feed;
  BlockSaved() = default;
  static BlockSaved of_sequence(const BlockPlan& plan, int64_t rows, Arena& arena);
  static BlockSaved of_chunk(const BlockPlan& plan, int64_t rows, Arena& arena);
  // The chunk at `first` of a whole sequence, with what was left out taken from `scratch`.
  BlockSaved chunk(const BlockPlan& plan, int64_t first, int64_t rows, Arena& scratch) const;

 private:
  void take_cheap(const BlockPlan& plan, int64_t rows, Arena& arena);
};

// A chunk of the block's input: row 0 of x is token `first`; before: the conv.halo(first) rows of
// the input in front of it.
struct BlockChunk {
  int64_t rows, first;
  ConstMat x, before;
};
// Of an input that is all there.
BlockChunk chunk_of(const BlockPlan& plan, ConstMat input, int64_t first, int64_t rows);

// k, v and keys of the chunk into `saved`; then state += them.
void block_prepare(const BlockRun& run, const BlockChunk& chunk, const BlockSaved& saved);
void block_absorb(const BlockRun& run, const BlockChunk& chunk, const BlockSaved& saved,
                  MixerState& state);
// Up to mid = x + out(emit(q)) and what is saved on the way; then y = mid + ffn(LN2(mid)). mid and
// y may be x; y may be null where only what is saved is wanted.
void block_mix(const BlockRun& run, const BlockChunk& chunk, const BlockSaved& saved,
               const MixerState& state);
void block_feed(const BlockRun& run, const BlockChunk& chunk, const BlockSaved& saved, Mat y);
// dx, on entry the gradient of the block's output, becomes that of mid; dy = the gradient of the
// mixer's answer.
void block_feed_backward(const BlockRun& run, const BlockChunk& chunk, const BlockSaved& saved,
                         Mat dx, Mat dy, float* grads);
// From the gradients of q (null: zero), k and v to the block's input: dx +=. dkeys is used up.
// ahead [conv.halo(), C]: dg of the rows after the chunk, zero beyond the last, and then that of
// the chunk's own first rows; so with conv the chunks go by from the last to the first.
void block_project_backward(const BlockRun& run, const BlockChunk& chunk, const BlockSaved& saved,
                            ConstMat dq, Mat dkeys, ConstMat dv, Mat ahead, Mat dx, float* grads);
// `ahead` of the last chunk, from scratch.
Mat nothing_ahead(const BlockRun& run);

// The mixer's view of a chunk.
MixerChunk mixer_chunk(const BlockChunk& chunk, const BlockSaved& saved);

}  // namespace linnet
