// training_run.cpp -- the sweeps of a whole model, forward and backward.
#include "models/training_run.h"

#include <algorithm>

#include "core/error.h"
#include "models/token_head.h"

namespace linnet {
namespace {

// Keys of one example's sequences and layers: far apart, so that sites inside a layer do not meet.
constexpr uint64_t kSequenceStep = uint64_t{1} << 48, kLayerStep = uint64_t{1} << 32;

}  // namespace

TrainingRun::TrainingRun(const Model& model, const Sinusoids& sinusoids, const Weights& weights,
                         Workspace& workspace, const TrainingOptions& options)
    : model_(model),
      sinusoids_(sinusoids),
      weights_(weights),
      workspace_(workspace),
      scope_(workspace.keep),
      options_(options) {}

BlockRun TrainingRun::block_run(const Tape& tape, size_t layer) {
  return {.plan = model_.blocks()[layer],
          .weights = weights_,
          .scratch = workspace_.scratch,
          .folded = false,
          .keep = true,
          .dropout = options_.dropout,
          .dropout_key = tape.key + (layer + 1) * kLayerStep};
}

const MixerState& TrainingRun::state_of(const Tape& tape, size_t layer, int64_t first) const {
  const auto& states = tape.states[layer];
  return states.size() == 1 ? states[0] : states[static_cast<size_t>(first / kChunk)];
}

template <class Visit>
void TrainingRun::for_each_chunk(const Tape& tape, size_t layer, int64_t first, int64_t last,
                                 bool reverse, const Visit& visit) {
  const BlockPlan& plan = model_.blocks()[layer];
  const int64_t chunks = (last - first + kChunk - 1) / kChunk;
  for (int64_t i = 0; i < chunks; ++i) {
    const int64_t at = first + (reverse ? chunks - 1 - i : i) * kChunk;
    const BlockChunk chunk = chunk_of(plan, tape.x[layer], at, std::min(kChunk, last - at));
    Arena::Scope scope(workspace_.scratch);
    visit(chunk, options_.recompute
                     ? BlockSaved::of_chunk(plan, chunk.rows, workspace_.scratch)
                     : tape.saved[layer].chunk(plan, at, chunk.rows, workspace_.scratch));
  }
}

void TrainingRun::forward_block(Tape& tape, size_t layer) {
  const BlockRun run = block_run(tape, layer);
  const BlockPlan& plan = run.plan;
  Arena& keep = workspace_.keep;
  const auto [first, last] = answered_rows(model_, layer, tape.rows);
  tape.x.push_back(take_mat(keep, last - first, plan.width));
  if (!options_.recompute) tape.saved.push_back(BlockSaved::of_sequence(plan, tape.rows, keep));
  auto& states = tape.states.emplace_back();
  MixerState state = take_state(*plan.mixer, plan.mix, tape.rows, keep);
  const Mat out = tape.x.back();
  if (plan.mix.causal) {
    for_each_chunk(tape, layer, 0, tape.rows, false,
                   [&](const BlockChunk& chunk, const BlockSaved& saved) {
                     block_prepare(run, chunk, saved);
                     block_mix(run, chunk, saved, state);
                     block_feed(run, chunk, saved, out.rows(chunk.first));
                     if (!plan.mixer->grows) {
                       states.push_back(take_state(*plan.mixer, plan.mix, tape.rows, keep));
                       std::copy_n(state.data, plan.mixer->state_floats(plan.mix, tape.rows),
                                   states.back().data);
                       states.back().count = state.count;
                     }
                     block_absorb(run, chunk, saved, state);
                   });
    if (plan.mixer->grows) states.push_back(state);
    return;
  }
  for_each_chunk(tape, layer, 0, tape.rows, false,
                 [&](const BlockChunk& chunk, const BlockSaved& saved) {
                   block_prepare(run, chunk, saved);
                   block_absorb(run, chunk, saved, state);
                 });
  if (plan.mixer->finish) plan.mixer->finish(run.mixer(), state);
  states.push_back(state);
  for_each_chunk(tape, layer, first, last, false,
                 [&, start = first](const BlockChunk& chunk, const BlockSaved& saved) {
                   block_mix(run, chunk, saved, state);
                   block_feed(run, chunk, saved, out.rows(chunk.first - start));
                 });
}

TrainingRun::Tape& TrainingRun::encode(Tokens tokens) {
  model_.check(tokens);
  const uint64_t number = tapes_.size();
  Tape& tape = tapes_.emplace_back();
  tape.tokens = tokens;
  tape.key = options_.dropout_key + number * kSequenceStep;
  tape.rows = model_.rows(static_cast<int64_t>(tokens.size()));
  tape.x.push_back(take_mat(workspace_.keep, tape.rows, model_.config().width));
  embed_forward(model_, sinusoids_, weights_.params, tokens, tape.rows, 0, options_.dropout,
                tape.key, tape.x[0]);
  for (size_t l = 0; l < model_.blocks().size(); ++l) forward_block(tape, l);
  return tape;
}

std::span<const float> TrainingRun::forward(std::span<const Tokens> sequences) {
  LINNET_ASSERT(static_cast<int64_t>(sequences.size()) == model_.sequences() && tapes_.empty());
  Arena& keep = workspace_.keep;
  float* vectors = keep.take(model_.head()[0].in());
  for (size_t s = 0; s < sequences.size(); ++s) {
    const Tape& tape = encode(sequences[s]);
    const RowRange pooled = pooled_rows(model_, tape.rows);
    const int64_t start = answered_rows(model_, model_.blocks().size() - 1, tape.rows).first;
    float* vector = vectors + static_cast<int64_t>(s) * model_.vector_width();
    pool_forward(model_, weights_, pooled.count(), tape.x.back().rows(pooled.first - start),
                 workspace_.scratch, vector);
    bag_forward(model_, weights_, tape.rows, tape.x[0], workspace_.scratch, vector);
  }
  logits_.resize(static_cast<size_t>(model_.config().classes));
  head_ = head_forward(model_, weights_, vectors, keep, logits_.data());
  return logits_;
}

void TrainingRun::forward_tokens(Tokens tokens) {
  LINNET_ASSERT(model_.of_tokens() && tapes_.empty());
  encode(tokens);
}

void TrainingRun::visit_stages(const VisitStage& visit) const {
  LINNET_ASSERT(!options_.recompute);
  const int64_t C = model_.config().width;
  for (const Tape& tape : tapes_) {
    visit({Stage::embedding}, tape.rows, C, tape.x[0]);
    for (size_t l = 0; l < tape.saved.size(); ++l) {
      const RowRange answered = answered_rows(model_, l, tape.rows);
      visit({Stage::mixer, l}, answered.count(), C, tape.saved[l].mid.rows(answered.first));
      visit({Stage::feed_forward, l}, answered.count(), C, tape.x[l + 1]);
    }
  }
}

void TrainingRun::backward_block(const Tape& tape, size_t layer, Mat dx, float* grads) {
  const BlockRun run = block_run(tape, layer);
  const BlockPlan& plan = run.plan;
  Arena& scratch = workspace_.scratch;
  Arena::Scope scope(scratch);
  const MixerState& state = tape.states[layer][0];
  MixerState dstate = take_state(*plan.mixer, plan.mix, tape.rows, scratch);
  const auto [first, last] = answered_rows(model_, layer, tape.rows);
  // dq waits for the second sweep, where LN1 and the three projections are differentiated together.
  const Mat dq = take_mat(scratch, tape.rows, plan.width);
  if (last - first < tape.rows) std::fill_n(dq.data, tape.rows * dq.ld, 0.0f);
  for_each_chunk(
      tape, layer, first, last, false, [&](const BlockChunk& chunk, const BlockSaved& saved) {
        const Mat dy = take_mat(scratch, chunk.rows, plan.width);
        if (options_.recompute) {
          block_mix(run, chunk, saved, state);
          block_feed(run, chunk, saved, {});
        } else if (plan.mixer->emit_again) {
          plan.mixer->emit_again(run.mixer(), mixer_chunk(chunk, saved), state, saved.emitted,
                                 saved.y);
        }
        block_feed_backward(run, chunk, saved, dx.rows(chunk.first), dy, grads);
        plan.mixer->emit_backward(
            run.mixer(), mixer_chunk(chunk, saved), state, saved.emitted, saved.y, dy, dstate,
            {.dq = dq.rows(chunk.first), .dkeys = {}, .dv = {}, .params = grads});
      });
  if (plan.mixer->finish_backward) plan.mixer->finish_backward(run.mixer(), state, dstate, grads);
  const Mat ahead = nothing_ahead(run);
  for_each_chunk(tape, layer, 0, tape.rows, plan.conv.taps > 0,
                 [&, from = first, to = last](const BlockChunk& chunk, const BlockSaved& saved) {
                   const Mat dkeys = take_mat(scratch, chunk.rows, plan.mix.key_width);
                   const Mat dv = take_mat(scratch, chunk.rows, plan.width);
                   if (options_.recompute) {
                     block_prepare(run, chunk, saved);
                   } else if (plan.mixer->prepare) {
                     plan.mixer->prepare(run.mixer(), mixer_chunk(chunk, saved), saved.keys);
                   }
                   plan.mixer->absorb_backward(
                       run.mixer(), mixer_chunk(chunk, saved), state, dstate,
                       {.dq = dq.rows(chunk.first), .dkeys = dkeys, .dv = dv, .params = grads});
                   const bool asked = plan.mixer->absorbs_q ||
                                      (chunk.first < to && chunk.first + chunk.rows > from);
                   block_project_backward(run, chunk, saved,
                                          asked ? ConstMat(dq.rows(chunk.first)) : ConstMat(),
                                          dkeys, dv, ahead, dx.rows(chunk.first), grads);
                 });
}

void TrainingRun::backward_block_causal(const Tape& tape, size_t layer, Mat dx, float* grads) {
  const BlockRun run = block_run(tape, layer);
  const BlockPlan& plan = run.plan;
  Arena& scratch = workspace_.scratch;
  Arena::Scope scope(scratch);
  MixerState dstate = take_state(*plan.mixer, plan.mix, tape.rows, scratch);
  const Mat ahead = nothing_ahead(run);
  for_each_chunk(tape, layer, 0, tape.rows, true,
                 [&](const BlockChunk& chunk, const BlockSaved& saved) {
                   const MixerState& state = state_of(tape, layer, chunk.first);
                   const Mat dy = take_mat(scratch, chunk.rows, plan.width),
                             dv = take_mat(scratch, chunk.rows, plan.width);
                   const Mat dq = take_mat(scratch, chunk.rows, plan.width);
                   const Mat dkeys = take_mat(scratch, chunk.rows, plan.mix.key_width);
                   const MixerChunk view = mixer_chunk(chunk, saved);
                   if (options_.recompute) {
                     block_prepare(run, chunk, saved);
                     block_mix(run, chunk, saved, state);
                     block_feed(run, chunk, saved, {});
                   } else {
                     if (plan.mixer->prepare) plan.mixer->prepare(run.mixer(), view, saved.keys);
                     if (plan.mixer->emit_again)
                       plan.mixer->emit_again(run.mixer(), view, state, saved.emitted, saved.y);
                   }
                   const MixerGrads owed{.dq = dq, .dkeys = dkeys, .dv = dv, .params = grads};
                   block_feed_backward(run, chunk, saved, dx.rows(chunk.first), dy, grads);
                   plan.mixer->absorb_backward(run.mixer(), view, state, dstate, owed);
                   plan.mixer->emit_backward(run.mixer(), view, state, saved.emitted, saved.y, dy,
                                             dstate, owed);
                   block_project_backward(run, chunk, saved, dq, dkeys, dv, ahead,
                                          dx.rows(chunk.first), grads);
                 });
}

void TrainingRun::encode_backward(const Tape& tape, const float* dvector, Mat dx, float* grads) {
  for (size_t l = model_.blocks().size(); l-- > 0;) {
    model_.config().causal ? backward_block_causal(tape, l, dx, grads)
                           : backward_block(tape, l, dx, grads);
  }
  bag_backward(model_, weights_, tape.rows, tape.x[0], dvector, dx, grads, workspace_.scratch);
  embed_backward(model_, tape.tokens, tape.rows, 0, options_.dropout, tape.key, dx, grads);
  if (options_.input_gradient) options_.input_gradient(tape.tokens, dx.rows(model_.rows(0)));
}

void TrainingRun::backward(std::span<const float> dlogits, float* grads) {
  const int64_t C = model_.config().width;
  Arena& scratch = workspace_.scratch;
  Arena::Scope scope(scratch);
  float* dvectors = scratch.take(model_.head()[0].in());
  head_backward(model_, weights_, head_, dlogits.data(), dvectors, grads, scratch);
  for (size_t s = 0; s < tapes_.size(); ++s) {
    const Tape& tape = tapes_[s];
    Arena::Scope sequence_scope(scratch);
    const int64_t ld = leading_dim(C),
                  start = answered_rows(model_, model_.blocks().size() - 1, tape.rows).first;
    const Mat dx{scratch.take_zeroed(tape.rows * ld), ld};
    const RowRange pooled = pooled_rows(model_, tape.rows);
    const float* dvector = dvectors + static_cast<int64_t>(s) * model_.vector_width();
    pool_backward(model_, weights_, pooled.count(), tape.x.back().rows(pooled.first - start),
                  dvector, dx.rows(pooled.first), grads, scratch);
    encode_backward(tape, dvector, dx, grads);
  }
}

void TrainingRun::backward_tokens(std::span<const int32_t> targets,
                                  std::span<const int32_t> classes, const TokenLoss& loss,
                                  float* grads) {
  const Tape& tape = tapes_.front();
  Arena& scratch = workspace_.scratch;
  Arena::Scope scope(scratch);
  const int64_t C = model_.config().width, ld = leading_dim(C);
  const Mat dx{scratch.take_zeroed(tape.rows * ld), ld};
  TokenHead head(model_, weights_, classes, scratch);
  const std::vector<int64_t> asked = rows_with_target(targets);
  std::vector<int32_t> wanted;
  for (size_t at = 0; at < asked.size(); at += kChunk) {
    Arena::Scope chunk_scope(scratch);
    const auto some = std::span(asked).subspan(at, std::min<size_t>(kChunk, asked.size() - at));
    const auto rows = static_cast<int64_t>(some.size());
    const Mat x = take_mat(scratch, rows, C), h = take_mat(scratch, rows, C),
              logits = take_mat(scratch, rows, head.classes());
    gather_rows(some, C, tape.x.back(), x);
    head.forward(rows, x, h, logits);
    wanted.clear();
    for (const int64_t t : some) wanted.push_back(targets[static_cast<size_t>(t)]);
    loss(wanted, logits);
    const Mat gathered{scratch.take_zeroed(rows * ld), ld};
    head.backward(rows, x, h, logits, gathered, grads, scratch);
    for (int64_t r = 0; r < rows; ++r)
      std::copy_n(gathered.row(r), C, dx.row(some[static_cast<size_t>(r)]));
  }
  head.finish(grads);
  encode_backward(tape, nullptr, dx, grads);
}

}  // namespace linnet
