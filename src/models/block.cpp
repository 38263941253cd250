// block.cpp -- the two sweeps of a pre-LN block and their adjoints, a chunk at a time.
#include "models/block.h"

#include <algorithm>

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

// LN1 of the chunk, and in front of its row 0 that of the halo: zero before the sequence begins.
Mat normed_with_halo(const BlockRun& run, const BlockChunk& chunk) {
  const BlockPlan& plan = run.plan;
  const int64_t C = plan.width, there = plan.conv.halo(chunk.first);
  const Mat h = take_mat(run.scratch, plan.conv.halo() + chunk.rows, C).rows(plan.conv.halo());
  for (int64_t r = -plan.conv.halo(); r < -there; ++r) std::fill_n(h.row(r), C, 0.0f);
  norm_forward(plan.norm1, run.weights, there, chunk.before, h.rows(-there));
  norm_forward(plan.norm1, run.weights, chunk.rows, chunk.x, h);
  return h;
}

// g, which q, k and v are projected from.
Mat mixer_input(const BlockRun& run, const BlockChunk& chunk) {
  const Mat h = normed_with_halo(run, chunk);
  if (run.plan.conv.taps > 0) conv_forward(run.plan.conv, run.weights, chunk.rows, h, h);
  return h;
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

BlockChunk chunk_of(const BlockPlan& plan, ConstMat input, int64_t first, int64_t rows) {
  return {rows, first, input.rows(first), input.rows(first - plan.conv.halo(first))};
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
  const Mat g = mixer_input(run, chunk);
  if (plan.mixer->absorbs_q) linear_forward(plan.q, run.weights, chunk.rows, g, saved.q);
  if (plan.mixer->uses_k) linear_forward(plan.k, run.weights, chunk.rows, g, saved.k);
  if (plan.mixer->squares) square_forward(chunk.rows, plan.width, g, g);
  linear_forward(plan.v, run.weights, chunk.rows, g, saved.v);
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
    linear_forward(plan.q, run.weights, chunk.rows, mixer_input(run, chunk), saved.q);
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
                            ConstMat dq, Mat dkeys, ConstMat dv, Mat ahead, Mat dx, float* grads) {
  const BlockPlan& plan = run.plan;
  const int64_t rows = chunk.rows;
  Arena::Scope scope(run.scratch);
  const int64_t C = plan.width, halo = plan.conv.halo();
  const Mat h = normed_with_halo(run, chunk), dg = take_mat(run.scratch, rows + halo, C);
  Mat g = h, dh = dg;
  if (plan.conv.taps > 0) {
    g = take_mat(run.scratch, rows, C);
    dh = take_mat(run.scratch, rows, C);
    conv_forward(plan.conv, run.weights, rows, h, g);
  }
  if (plan.mixer->squares) {
    // v = (g * g) Wv + bv, so dg = 2 g * (dv Wv^T).
    Arena::Scope inner(run.scratch);
    const Mat squares = take_mat(run.scratch, rows, C);
    square_forward(rows, C, g, squares);
    linear_backward_weights(plan.v, rows, squares, dv, grads, run.scratch);
    linear_backward_input(plan.v, run.weights, rows, dv, dg);
    square_backward(rows, C, g, dg, dg);
  } else {
    linear_backward_weights(plan.v, rows, g, dv, grads, run.scratch);
    linear_backward_input(plan.v, run.weights, rows, dv, dg);
  }
  if (plan.mixer->uses_k) {
    ConstMat dk = dkeys;
    if (plan.mixer->prepare_backward) {
      const Mat through = take_mat(run.scratch, rows, C);
      plan.mixer->prepare_backward(run.mixer(), mixer_chunk(chunk, saved), dkeys, through, grads);
      dk = through;
    }
    linear_backward_weights(plan.k, rows, g, dk, grads, run.scratch);
    linear_backward_input(plan.k, run.weights, rows, dk, dg, true);
  }
  if (plan.mixer->uses_q && dq.data) {
    linear_backward_weights(plan.q, rows, g, dq, grads, run.scratch);
    linear_backward_input(plan.q, run.weights, rows, dq, dg, true);
  }
  if (plan.conv.taps > 0) {
    // g_t = sum_j c_j * h_{t-j}, so dh_t = sum_j c_j * dg_{t+j}: dg of the rows ahead too.
    copy_rows(halo, C, ahead, dg.rows(rows));
    copy_rows(std::min(halo, rows), C, dg, ahead);
    conv_backward(plan.conv, run.weights, rows, h, dg, dh, grads);
  }
  norm_backward(plan.norm1, run.weights, rows, chunk.x, dh, dx, grads);
}

Mat nothing_ahead(const BlockRun& run) {
  const int64_t ld = leading_dim(run.plan.width);
  return {run.scratch.take_zeroed(run.plan.conv.halo() * ld), ld};
}

}  // namespace linnet
