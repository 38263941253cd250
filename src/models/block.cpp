// block.cpp -- the two sweeps of a pre-LN block and their adjoints, a chunk at a time.
#include "models/block.h"

#include "kernels/activations.h"
#include "kernels/rows.h"

namespace linnet {
namespace {
// Dropout sites of a block, far enough apart for those inside the mixer and the feed-forward layer.
constexpr uint64_t kMixerSite = 0, kOutSite = 16, kFeedOutSite = 17, kFeedSite = 1 << 16;

// y += drop(f) for f computed into scratch, or directly where nothing is dropped.
template <class AddTo>
void add_dropped(const BlockRun& run, const BlockChunk& chunk, uint64_t site, Mat y,
                 const AddTo& add_to) {
  if (run.dropout == 0) return add_to(y);
  Arena::Scope scope(run.scratch);
  const int64_t C = run.plan.width;
  const Mat part = take_mat(run.scratch, chunk.rows, C);
  for (int64_t r = 0; r < chunk.rows; ++r) std::fill_n(part.row(r), C, 0.0f);
  add_to(part);
  dropout(chunk.rows, C, part, run.dropout, run.dropout_key + site, chunk.first);
  add_rows(chunk.rows, C, part, y);
}

// The gradient behind that dropout: dy itself where nothing is dropped.
ConstMat dropped_gradient(const BlockRun& run, const BlockChunk& chunk, uint64_t site,
                          ConstMat dy) {
  if (run.dropout == 0) return dy;
  const Mat part = take_mat(run.scratch, chunk.rows, run.plan.width);
  copy_rows(chunk.rows, run.plan.width, dy, part);
  dropout(chunk.rows, run.plan.width, part, run.dropout, run.dropout_key + site, chunk.first);
  return part;
}

}  // namespace

MixerRun BlockRun::mixer() const {
  return {.plan = plan.mix,
          .weights = weights,
          .scratch = scratch,
          .folded = folded,
          .keep = keep,
          .dropout = dropout,
          .dropout_key = dropout_key + kMixerSite};
}

FeedForwardRun BlockRun::feed() const {
  return {.plan = plan.feed,
          .weights = weights,
          .scratch = scratch,
          .dropout = dropout,
          .dropout_key = dropout_key + kFeedSite};
}

BlockSaved BlockSaved::of_sequence(const BlockPlan& plan, int64_t rows, Arena& arena) {
  const int64_t C = plan.width;
  BlockSaved s;
  if (plan.mixer->uses_q) s.q = take_mat(arena, rows, C);
  if (plan.mixer->uses_k) s.k = take_mat(arena, rows, C);
  s.v = take_mat(arena, rows, C);
  s.emitted = take_mat(arena, rows, plan.mixer->saved_floats(plan.mix));
  if (!plan.mixer->emit_again) s.y = take_mat(arena, rows, C);
  s.mid = take_mat(arena, rows, C);
  s.feed = take_mat(arena, rows, plan.ffn->saved_floats(plan.feed));
  return s;
}

void BlockSaved::take_cheap(const BlockPlan& plan, int64_t rows, Arena& arena) {
  if (plan.mixer->prepare) keys = take_mat(arena, rows, plan.mix.key_width);
  if (plan.mixer->emit_again) y = take_mat(arena, rows, plan.width);
}

BlockSaved BlockSaved::of_chunk(const BlockPlan& plan, int64_t rows, Arena& arena) {
  BlockSaved s = of_sequence(plan, rows, arena);
  s.take_cheap(plan, rows, arena);
  return s;
}

BlockSaved BlockSaved::chunk(const BlockPlan& plan, int64_t first, int64_t rows,
                             Arena& scratch) const {
  BlockSaved s;
  s.q = q.rows(first);
  s.k = k.rows(first);
  s.v = v.rows(first);
  s.emitted = emitted.rows(first);
  s.y = y.rows(first);
  s.mid = mid.rows(first);
  s.feed = feed.rows(first);
  s.take_cheap(plan, rows, scratch);
  return s;
}

MixerChunk mixer_chunk(const BlockChunk& chunk, const BlockSaved& saved) {
  return {.rows = chunk.rows,
          .first = chunk.first,
          .q = saved.q,
          .k = saved.k,
          .v = saved.v,
          .keys = saved.keys.data ? saved.keys : saved.k};
}

void block_prepare(const BlockRun& run, const BlockChunk& chunk, const BlockSaved& saved) {
  const BlockPlan& plan = run.plan;
  Arena::Scope scope(run.scratch);
  const Mat h = take_mat(run.scratch, chunk.rows, plan.width);
  norm_forward(plan.norm1, run.weights, chunk.rows, chunk.x, h);
  if (plan.mixer->absorbs_q) linear_forward(plan.q, run.weights, chunk.rows, h, saved.q);
  if (plan.mixer->uses_k) linear_forward(plan.k, run.weights, chunk.rows, h, saved.k);
  if (plan.mixer->squares) square_forward(chunk.rows, plan.width, h, h);
  linear_forward(plan.v, run.weights, chunk.rows, h, saved.v);
  if (plan.mixer->prepare) {
    plan.mixer->prepare(run.mixer(), mixer_chunk(chunk, saved), saved.keys);
  }
}

void block_absorb(const BlockRun& run, const BlockChunk& chunk, const BlockSaved& saved,
                  MixerState& state) {
  run.plan.mixer->absorb(run.mixer(), mixer_chunk(chunk, saved), state);
}

void block_mix(const BlockRun& run, const BlockChunk& chunk, const BlockSaved& saved,
               const MixerState& state) {
  const BlockPlan& plan = run.plan;
  Arena::Scope scope(run.scratch);
  if (plan.mixer->uses_q) {
    const Mat h = take_mat(run.scratch, chunk.rows, plan.width);
    norm_forward(plan.norm1, run.weights, chunk.rows, chunk.x, h);
    linear_forward(plan.q, run.weights, chunk.rows, h, saved.q);
  }
  plan.mixer->emit(run.mixer(), mixer_chunk(chunk, saved), state, saved.emitted, saved.y);
  if (saved.mid.data != chunk.x.data) copy_rows(chunk.rows, plan.width, chunk.x, saved.mid);
  add_dropped(run, chunk, kOutSite, saved.mid, [&](Mat to) {
    linear_forward(plan.out, run.weights, chunk.rows, saved.y, to, true);
  });
}

void block_feed(const BlockRun& run, const BlockChunk& chunk, const BlockSaved& saved, Mat y) {
  const BlockPlan& plan = run.plan;
  Arena::Scope scope(run.scratch);
  const Mat h = take_mat(run.scratch, chunk.rows, plan.width);
  norm_forward(plan.norm2, run.weights, chunk.rows, saved.mid, h);
  if (!y.data) return plan.ffn->forward(run.feed(), chunk.rows, chunk.first, h, saved.feed, y);
  if (y.data != saved.mid.data) copy_rows(chunk.rows, plan.width, saved.mid, y);
  add_dropped(run, chunk, kFeedOutSite, y, [&](Mat to) {
    plan.ffn->forward(run.feed(), chunk.rows, chunk.first, h, saved.feed, to);
  });
}

void block_feed_backward(const BlockRun& run, const BlockChunk& chunk, const BlockSaved& saved,
                         Mat dx, Mat dy, float* grads) {
  const BlockPlan& plan = run.plan;
  const int64_t rows = chunk.rows;
  Arena::Scope scope(run.scratch);
  const Mat h = take_mat(run.scratch, rows, plan.width),
            dh = take_mat(run.scratch, rows, plan.width);
  // out = mid + drop(ffn(LN2(mid))), so dmid = dout + LN2'(ffn'(drop(dout))).
  norm_forward(plan.norm2, run.weights, rows, saved.mid, h);
  plan.ffn->backward(run.feed(), rows, chunk.first, h, saved.feed,
                     dropped_gradient(run, chunk, kFeedOutSite, dx), dh, grads);
  norm_backward(plan.norm2, run.weights, rows, saved.mid, dh, dx, grads);
  // mid = x + drop(y Wo + bo), so dy = drop(dmid) Wo^T.
  const ConstMat dout = dropped_gradient(run, chunk, kOutSite, dx);
  linear_backward_weights(plan.out, rows, saved.y, dout, grads, run.scratch);
  linear_backward_input(plan.out, run.weights, rows, dout, dy);
}

void block_project_backward(const BlockRun& run, const BlockChunk& chunk, const BlockSaved& saved,
                            ConstMat dq, Mat dkeys, ConstMat dv, Mat dx, float* grads) {
  const BlockPlan& plan = run.plan;
  const int64_t rows = chunk.rows;
  Arena::Scope scope(run.scratch);
  const Mat h = take_mat(run.scratch, rows, plan.width),
            dh = take_mat(run.scratch, rows, plan.width);
  norm_forward(plan.norm1, run.weights, rows, chunk.x, h);
  if (plan.mixer->squares) {
    // v = (h * h) Wv + bv, so dh = 2 h * (dv Wv^T).
    Arena::Scope inner(run.scratch);
    const Mat squares = take_mat(run.scratch, rows, plan.width);
    square_forward(rows, plan.width, h, squares);
    linear_backward_weights(plan.v, rows, squares, dv, grads, run.scratch);
    linear_backward_input(plan.v, run.weights, rows, dv, dh);
    square_backward(rows, plan.width, h, dh, dh);
  } else {
    linear_backward_weights(plan.v, rows, h, dv, grads, run.scratch);
    linear_backward_input(plan.v, run.weights, rows, dv, dh);
  }
  if (plan.mixer->uses_k) {
    ConstMat dk = dkeys;
    if (plan.mixer->prepare_backward) {
      const Mat through = take_mat(run.scratch, rows, plan.width);
      plan.mixer->prepare_backward(run.mixer(), mixer_chunk(chunk, saved), dkeys, through, grads);
      dk = through;
    }
    linear_backward_weights(plan.k, rows, h, dk, grads, run.scratch);
    linear_backward_input(plan.k, run.weights, rows, dk, dh, true);
  }
  if (plan.mixer->uses_q && dq.data) {
    linear_backward_weights(plan.q, rows, h, dq, grads, run.scratch);
    linear_backward_input(plan.q, run.weights, rows, dq, dh, true);
  }
  norm_backward(plan.norm1, run.weights, rows, chunk.x, dh, dx, grads);
}

}  // namespace linnet
