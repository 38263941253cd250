// mixer.h -- the contract of token mixers: a state that absorbs chunks of tokens and answers chunks
// of tokens.
//
//   prepare(k)               keys   what is absorbed of k, e.g. phi(k)
//   absorb(state, keys, v)          add a chunk's keys and values
//   merge(state, other)             join the state of the span that follows
//   finish(state)                   once all is absorbed, for kinds that need the whole sequence
//   emit(state, q)           y      answer a chunk's queries
//
// Bidirectional: absorb all chunks, finish, then emit all. Causal: for each chunk emit (the state
// holds what came before, the triangle inside the chunk comes from its own keys and values), then
// absorb. Streaming is causal with chunks of one. A long document over several threads: absorb
// spans, merge in order, emit. The adjoints run in reverse order; dstate has the layout of the
// state, starts at zero and collects what later calls owe to it:
//   bidirectional: emit_backward of every chunk, finish_backward, absorb_backward of every chunk;
//   causal, from the last chunk to the first: absorb_backward, then emit_backward.
//
// A kind is a record. Adding one: write its file, add its line to mixers.cpp. The suite in
// tests/mixers loops over the list.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/arena.h"
#include "core/view.h"
#include "features/chain.h"
#include "layers/params.h"

namespace linnet {

// Sizes and parameters of the mixer of one layer.
struct MixerPlan {
  int64_t width = 0, heads = 0, head = 0;  // C, H, D
  bool causal = false;
  int64_t length = 0;      // most tokens of a sequence, for kinds with parameters a position
  std::string phi_text{};  // kernel attention only: the config's phi, and what it was built to
  FeatureChain phi{};
  bool by_count = false;           // kernel attention without a denominator
  int64_t key_width = 0;           // columns of keys: C, or H*F
  std::vector<int64_t> offsets{};  // of further parameters, in the kind's own order
  std::vector<float> constants{};  // numbers that follow from the sizes, in the kind's own order
};

// What a call runs with.
struct MixerRun {
  const MixerPlan& plan;
  const Weights& weights;
  Arena& scratch;
  bool folded = false;       // phi's first product is already in q and k
  bool keep = false;         // a backward will follow
  float dropout = 0;         // of phi's input
  uint64_t dropout_key = 0;  // of this sequence, step and layer
};

// Rows of one sequence; row 0 is token `first`. What a kind does not use is null.
struct MixerChunk {
  int64_t rows = 0, first = 0;
  ConstMat q, k, v, keys;
};

struct MixerGrads {
  Mat dq, dkeys, dv;
  float* params = nullptr;  // the whole gradient block
};

struct MixerState {
  float* data = nullptr;
  int64_t count = 0, capacity = 0;  // tokens absorbed, and tokens that `data` was sized for
};

// Tokens that a mean in row i of the chunk is over.
inline int64_t tokens_seen(const MixerPlan& plan, const MixerChunk& chunk, const MixerState& state,
                           int64_t i) {
  return plan.causal ? chunk.first + i + 1 : state.count;
}

// Multiplications and additions in a sequence of T: of every token in absorb and finish, and of a
// row that is answered in emit.
struct MixerFlops {
  double absorb, emit;
};

struct Mixer {
  std::string_view name, formula, summary, paper, cost, state;
  bool uses_q, uses_k;        // else the block has no such projection
  bool uses_feature;          // has a phi
  bool causal;                // can be; a causal kind that does not grow can be streamed
  bool grows;                 // the state keeps every token (a causal one, where it can be); else
                              // it is a sum of fixed size
  bool absorbs_q = false;     // queries are absorbed as well
  bool squares = false;       // v is projected from the squares of the block's input
  bool averages = true;       // y is a weighted mean of values: never beyond them
  bool counts = false;        // the answer to equal tokens changes with their number: no mean
  bool bounded = false;       // has parameters a position: no sequence beyond plan.length
  std::string_view phi = {};  // the one phi of a kind that has no choice
  // Fills the plan and adds parameters below `name`.
  void (*build)(ParamLayout& layout, const std::string& name, MixerPlan& plan);
  // Floats of the state for up to T tokens, and of what emit saves for its backward, a row.
  int64_t (*state_floats)(const MixerPlan& plan, int64_t T);
  int64_t (*saved_floats)(const MixerPlan& plan);
  // Null: keys are k itself.
  void (*prepare)(const MixerRun& run, const MixerChunk& chunk, Mat keys);
  void (*prepare_backward)(const MixerRun& run, const MixerChunk& chunk, Mat dkeys, Mat dk,
                           float* grads);
  void (*absorb)(const MixerRun& run, const MixerChunk& chunk, MixerState& state);
  void (*merge)(const MixerPlan& plan, const MixerState& other, MixerState& state);
  // Null: nothing to do. Bidirectional only.
  void (*finish)(const MixerRun& run, MixerState& state) = nullptr;
  void (*finish_backward)(const MixerRun& run, const MixerState& state, MixerState& dstate,
                          float* grads) = nullptr;
  void (*emit)(const MixerRun& run, const MixerChunk& chunk, const MixerState& state, Mat saved,
               Mat y);
  // y once more from what emit saved, for a backward: where that is cheap, y is not kept. Null: y
  // is kept.
  void (*emit_again)(const MixerRun& run, const MixerChunk& chunk, const MixerState& state,
                     Mat saved, Mat y);
  // Writes dq; adds to dstate; causal: also adds to dkeys and dv.
  void (*emit_backward)(const MixerRun& run, const MixerChunk& chunk, const MixerState& state,
                        ConstMat saved, ConstMat y, ConstMat dy, MixerState& dstate,
                        const MixerGrads& grads);
  // Writes dkeys and dv; adds to dq where queries are absorbed.
  void (*absorb_backward)(const MixerRun& run, const MixerChunk& chunk, const MixerState& state,
                          const MixerState& dstate, const MixerGrads& grads);
  MixerFlops (*flops)(const MixerPlan& plan, int64_t T);
  // The definition, q, k, v [T,C] to y [T,C], for tests.
  void (*reference)(const MixerPlan& plan, const Complex* params, int64_t T, const Complex* q,
                    const Complex* k, const Complex* v, Complex* y);
};

std::span<const Mixer* const> mixers();
// The kind of that name, or an Error that lists the names.
const Mixer& find_mixer(std::string_view name);

// An empty state for up to T tokens.
MixerState take_state(const Mixer& mixer, const MixerPlan& plan, int64_t T, Arena& arena);

}  // namespace linnet
