// inference.cpp -- a model's forward pass without anything kept for a backward.
#include "models/inference.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "kernels/rows.h"
#include "models/head.h"
#include "models/memory_need.h"
#include "models/token_head.h"

namespace linnet {

Inference::Inference(Context& context, const Model& model, Block values, int64_t span)
    : context_(context),
      model_(model),
      parameters_(context, model, std::move(values), false),
      weights_(parameters_.weights()),
      sinusoids_(model.config().width),
      span_(span),
      workspaces_(static_cast<size_t>(context.threads())) {}

BlockRun Inference::block_run(size_t layer, Workspace& workspace) const {
  return {.plan = model_.blocks()[layer],
          .weights = weights_,
          .scratch = workspace.scratch,
          .folded = model_.blocks()[layer].mix.phi.folds()};
}

void Inference::finish(size_t layer, MixerState& state, Workspace& workspace) const {
  const BlockPlan& plan = model_.blocks()[layer];
  if (plan.mixer->finish && !plan.mix.causal)
    plan.mixer->finish(block_run(layer, workspace).mixer(), state);
}

void Inference::absorb_rows(size_t layer, ConstMat x, int64_t first, int64_t last,
                            MixerState& state, Workspace& workspace) const {
  const BlockRun run = block_run(layer, workspace);
  const BlockPlan& plan = run.plan;
  Arena::Scope scope(workspace.scratch);
  const BlockSaved saved =
      BlockSaved::of_chunk(plan, std::min(kChunk, last - first), workspace.scratch);
  for (int64_t at = first; at < last; at += kChunk) {
    const BlockChunk chunk = chunk_of(plan, x, at, std::min(kChunk, last - at));
    block_prepare(run, chunk, saved);
    block_absorb(run, chunk, saved, state);
  }
}

void Inference::emit_rows(size_t layer, Mat x, ConstMat before, int64_t first, int64_t last,
                          MixerState& state, Workspace& workspace) const {
  const BlockRun run = block_run(layer, workspace);
  const BlockPlan& plan = run.plan;
  Arena::Scope scope(workspace.scratch);
  BlockSaved saved = BlockSaved::of_chunk(plan, std::min(kChunk, last - first), workspace.scratch);
  saved.feed = {};  // nothing is kept for a backward
  // The chunk's last rows, for the next one: by then they are overwritten.
  const int64_t halo = plan.conv.halo();
  Mat tail = take_mat(workspace.scratch, halo, plan.width),
      other = take_mat(workspace.scratch, halo, plan.width);
  for (int64_t at = first; at < last; at += kChunk) {
    const BlockChunk chunk{std::min(kChunk, last - at), at, x.rows(at), before};
    if (at + kChunk < last) copy_rows(halo, plan.width, x.rows(at + kChunk - halo), tail);
    saved.mid = x.rows(at);
    if (plan.mix.causal) block_prepare(run, chunk, saved);
    block_mix(run, chunk, saved, state);
    block_feed(run, chunk, saved, x.rows(at));
    if (plan.mix.causal) block_absorb(run, chunk, saved, state);
    before = tail;
    std::swap(tail, other);
  }
}

void Inference::run_block(size_t layer, Mat x, int64_t rows, bool all_threads,
                          Workspace& workspace) {
  const BlockPlan& plan = model_.blocks()[layer];
  Arena::Scope scope(workspace.keep);
  const RowRange asked = answered_rows(model_, layer, rows);
  const ConstMat in_front = x.rows(asked.first - plan.conv.halo(asked.first));
  const int64_t spans = (rows + span_ - 1) / span_;
  if (spans == 1) {
    MixerState state = take_state(*plan.mixer, plan.mix, rows, workspace.keep);
    if (!plan.mix.causal) {
      absorb_rows(layer, x, 0, rows, state, workspace);
      finish(layer, state, workspace);
    }
    return emit_rows(layer, x, in_front, asked.first, asked.last, state, workspace);
  }
  const auto for_each_span = [&](const auto& visit) {
    const auto job = [&](int64_t span, int worker) {
      visit(static_cast<size_t>(span), span * span_, std::min(rows, (span + 1) * span_),
            all_threads ? workspaces_[static_cast<size_t>(worker)] : workspace);
    };
    if (all_threads) return context_.parallel(spans, job);
    for (int64_t span = 0; span < spans; ++span) job(span, 0);
  };
  std::vector<MixerState> states;
  for (int64_t span = 0; span < spans; ++span) {
    states.push_back(
        take_state(*plan.mixer, plan.mix, std::min(span_, rows - span * span_), workspace.keep));
  }
  for_each_span([&](size_t span, int64_t from, int64_t to, Workspace& own) {
    absorb_rows(layer, x, from, to, states[span], own);
  });
  // Causal: each span starts from what came before it. Else all see the same sum.
  MixerState total = take_state(*plan.mixer, plan.mix, rows, workspace.keep);
  std::vector<MixerState> before;
  for (const MixerState& state : states) {
    if (plan.mix.causal) {
      MixerState& copy =
          before.emplace_back(take_state(*plan.mixer, plan.mix, rows, workspace.keep));
      std::copy_n(total.data, plan.mixer->state_floats(plan.mix, rows), copy.data);
      copy.count = total.count;
    }
    plan.mixer->merge(plan.mix, state, total);
  }
  finish(layer, total, workspace);
  if (asked.count() < rows) {
    return emit_rows(layer, x, in_front, asked.first, asked.last, total, workspace);
  }
  // The rows in front of each span, before the span that they are in overwrites them.
  const int64_t halo = plan.conv.halo();
  const Mat halos = take_mat(workspace.keep, spans * halo, plan.width);
  for (int64_t span = 1; span < spans; ++span) {
    copy_rows(halo, plan.width, x.rows(span * span_ - halo), halos.rows(span * halo));
  }
  for_each_span([&](size_t span, int64_t from, int64_t to, Workspace& own) {
    emit_rows(layer, x, halos.rows(static_cast<int64_t>(span) * halo), from, to,
              plan.mix.causal ? before[span] : total, own);
  });
}

template <class Before, class Use>
void Inference::encode(std::span<const Tokens> sequences, const Before& before, const Use& use) {
  const auto run = [&](size_t i, Workspace& workspace, bool all_threads) {
    const Tokens tokens = sequences[i];
    const int64_t rows = model_.rows(static_cast<int64_t>(tokens.size()));
    Arena::Scope scope(workspace.keep);
    const Mat x = take_mat(workspace.keep, rows, model_.config().width);
    embed_forward(model_, sinusoids_, weights_.params, tokens, rows, 0, 0, 0, x);
    before(i, rows, x, workspace);
    for (size_t l = 0; l < model_.blocks().size(); ++l)
      run_block(l, x, rows, all_threads, workspace);
    use(i, rows, x, workspace);
  };
  std::vector<size_t> whole;  // sequences of one span, the longest first: the threads end together
  for (size_t i = 0; i < sequences.size(); ++i) {
    model_.check(sequences[i]);
    if (model_.rows(static_cast<int64_t>(sequences[i].size())) <= span_) {
      whole.push_back(i);
    } else {
      run(i, workspaces_[0], true);
    }
  }
  std::stable_sort(whole.begin(), whole.end(),
                   [&](size_t a, size_t b) { return sequences[a].size() > sequences[b].size(); });
  context_.parallel(static_cast<int64_t>(whole.size()), [&](int64_t task, int worker) {
    run(whole[static_cast<size_t>(task)], workspaces_[static_cast<size_t>(worker)], false);
  });
}

void Inference::check_memory(std::span<const Tokens> sequences) const {
  size_t longest = 0;
  for (const Tokens& tokens : sequences) longest = std::max(longest, model_.deep(tokens).size());
  context_.memory().check(
      "to answer", inference_need(model_, context_.threads(),
                                  static_cast<int64_t>(sequences.size()) / model_.sequences(),
                                  static_cast<int64_t>(longest)));
}

std::vector<float> Inference::logits(std::span<const Tokens> sequences) {
  const int64_t width = model_.vector_width(), classes = model_.config().classes,
                towers = model_.sequences();
  const auto count = static_cast<int64_t>(sequences.size());
  LINNET_ASSERT(count % towers == 0 && !model_.of_tokens());
  check_memory(sequences);
  std::vector<float> vectors(static_cast<size_t>(count * width)),
      out(static_cast<size_t>(count / towers * classes)), beside(out.size());
  const auto vector_of = [&](size_t i) { return vectors.data() + static_cast<int64_t>(i) * width; };
  const auto before = [&](size_t i, int64_t rows, Mat x, Workspace& workspace) {
    bag_forward(model_, weights_, rows, x, workspace.scratch, vector_of(i));
  };
  std::vector<Tokens> deep;
  for (const Tokens& tokens : sequences) deep.push_back(model_.deep(tokens));
  encode(deep, before, [&](size_t i, int64_t rows, Mat x, Workspace& workspace) {
    const RowRange pooled = pooled_rows(model_, rows);
    pool_forward(model_, weights_, pooled.count(), x.rows(pooled.first), workspace.scratch,
                 vector_of(i));
    const auto of_example = static_cast<size_t>(towers);
    float* said = beside.data() + static_cast<int64_t>(i / of_example) * classes;
    if (model_.wide().longest > 0 && i % of_example == 0)
      add_wide_logits(model_.wide(), weights_.params, sequences.subspan(i, of_example), said);
    if (model_.regions().places > 0)
      add_region_logits(model_.regions(), weights_.params, deep[i], said);
  });
  for (int64_t e = 0; e < count / towers; ++e) {
    Arena::Scope scope(workspaces_[0].scratch);
    head_forward(model_, weights_, vectors.data() + e * towers * width, workspaces_[0].scratch,
                 out.data() + e * classes);
  }
  add(static_cast<int64_t>(out.size()), beside.data(), out.data());
  return out;
}

void Inference::token_logits(std::span<const Tokens> sequences,
                             std::span<const std::vector<int64_t>> asked,
                             const VisitLogits& visit) {
  LINNET_ASSERT(model_.of_tokens() && asked.size() == sequences.size());
  check_memory(sequences);
  const int64_t C = model_.config().width;
  const auto before = [](size_t, int64_t, Mat, Workspace&) {};
  encode(sequences, before, [&](size_t i, int64_t, Mat x, Workspace& workspace) {
    Arena::Scope scope(workspace.scratch);
    const std::span<const int64_t> rows = asked[i];
    const auto most = static_cast<int64_t>(std::min<size_t>(kChunk, rows.size()));
    const Mat gathered = take_mat(workspace.scratch, most, C),
              h = take_mat(workspace.scratch, most, C),
              logits = take_mat(workspace.scratch, most, model_.config().classes);
    const TokenHead head(model_, weights_, {}, workspace.scratch);
    for (size_t at = 0; at < rows.size(); at += kChunk) {
      const auto some = rows.subspan(at, std::min<size_t>(kChunk, rows.size() - at));
      gather_rows(some, C, x, gathered);
      head.forward(static_cast<int64_t>(some.size()), gathered, h, logits);
      visit(i, some, logits);
    }
  });
}

std::vector<float> Inference::all_token_logits(std::span<const Tokens> sequences) {
  const int64_t classes = model_.config().classes;
  std::vector<int64_t> begin = {0};
  std::vector<std::vector<int64_t>> asked;
  for (const Tokens& tokens : sequences) {
    begin.push_back(begin.back() + static_cast<int64_t>(tokens.size()));
    std::vector<int64_t>& rows = asked.emplace_back(tokens.size());
    std::iota(rows.begin(), rows.end(), 0);
  }
  std::vector<float> all(static_cast<size_t>(begin.back() * classes));
  token_logits(sequences, asked, [&](size_t i, std::span<const int64_t> rows, ConstMat logits) {
    copy_rows(static_cast<int64_t>(rows.size()), classes, logits,
              {all.data() + (begin[i] + rows.front()) * classes, classes});
  });
  return all;
}

}  // namespace linnet
