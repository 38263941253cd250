// memory_need.cpp -- the sizes of parameters by the settings that they follow from, and those of
// activations.
#include "models/memory_need.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/gemm.h"
#include "models/head.h"
#include "models/inference.h"

namespace linnet {
namespace {

constexpr double kFloat = sizeof(float);
constexpr double kAnswers = 4;  // of the model, of its side, as probabilities, as they are shown

double mat_floats(double rows, int64_t cols) {
  return rows * static_cast<double>(leading_dim(cols));
}

// The part of a model that a parameter belongs to, by its name.
enum Part { kEmbedding, kPositions, kNgrams, kBlocks, kHead, kWide, kRegions, kParts };

Part part_of(std::string_view name) {
  if (name == "embed.positions") return kPositions;
  if (name == "embed.ngrams") return kNgrams;
  if (name.starts_with("head.")) return kHead;
  if (name.starts_with("wide.")) return kWide;
  if (name.starts_with("regions.")) return kRegions;
  return name.starts_with("blocks.") ? kBlocks : kEmbedding;
}

void add_part(MemoryNeed& need, Part part, const Model& model, double bytes) {
  const ModelConfig& c = model.config();
  switch (part) {
    case kEmbedding:
      return need.add(c.width > c.vocab ? "config.width" : "config.vocab",
                      fmt::format("{} embeddings of width {}", c.vocab, c.width), bytes);
    case kPositions:
      return need.add("config.length",
                      fmt::format("{} learned positions of width {}", c.length, c.width), bytes);
    case kNgrams:
      return need.add("config.ngram_buckets",
                      fmt::format("{} n-grams of width {}", c.ngram_buckets, c.width), bytes);
    case kBlocks:
      return need.add(
          c.blocks > c.width       ? "config.blocks"
          : c.hidden > 4 * c.width ? "config.hidden"
                                   : "config.width",
          fmt::format("{} blocks of width {} and {} hidden units", c.blocks, c.width, hidden_of(c)),
          bytes);
    case kHead:
      return need.add(c.classes > c.head_units ? "config.classes" : "config.head_units",
                      fmt::format("a head of {} units for {} classes", c.head_units, c.classes),
                      bytes);
    case kWide:
      return need.add("config.wide_bits", fmt::format("2^{} n-grams beside it", c.wide_bits),
                      bytes);
    case kRegions:
      return need.add(
          "config.region_rows",
          fmt::format("{} units beside it on {} rows", c.region_units, region_rows_of(c)), bytes);
    case kParts:
      break;
  }
}

// Rows of one sequence that a block keeps for its backward.
double saved_floats(const BlockPlan& plan, double rows) {
  const int64_t C = plan.width;
  const auto [q, k] = std::pair(plan.mixer->uses_q, plan.mixer->uses_k);
  return (2 + q + k + (plan.mixer->emit_again ? 0 : 1)) * mat_floats(rows, C) +
         mat_floats(rows, plan.mixer->saved_floats(plan.mix)) +
         mat_floats(rows, plan.ffn->saved_floats(plan.feed));
}

double state_floats(const BlockPlan& plan, int64_t rows) {
  return static_cast<double>(plan.mixer->state_floats(plan.mix, rows));
}

// What a chunk takes while it goes by: its saved rows, keys, some rows of the width and the hidden
// units, and the values inside phi.
double chunk_floats(const Model& model, const BlockPlan& plan, bool training) {
  constexpr double kRows = kChunk;
  constexpr int64_t kHiddenBlock = 256;
  double inside = 0;
  for (const FeatureStage& stage : plan.mix.phi.stages)
    inside += mat_floats(kRows, stage.plan.heads * stage.plan.out);
  double floats = saved_floats(plan, kRows) + 2 * mat_floats(kRows, plan.mix.key_width) +
                  8 * mat_floats(kRows, plan.width) + 4 * mat_floats(kRows, kHiddenBlock) +
                  (training ? 2 : 1) * inside;
  if (model.of_tokens()) floats += (training ? 2 : 1) * mat_floats(kRows, model.config().classes);
  return floats;
}

}  // namespace

MemoryNeed weights_need(const Model& model, const WeightCopies& copies) {
  const ParamLayout& layout = model.layout();
  double bytes[kParts] = {};
  for (const ParamSpec& spec : layout.specs())
    bytes[part_of(spec.name)] += kFloat * static_cast<double>(spec.size());
  bytes[kNgrams] *= copies.sparse;
  for (const Part part : {kWide, kRegions}) bytes[part] *= copies.side;
  for (const Part part : {kEmbedding, kPositions, kBlocks, kHead}) bytes[part] *= copies.dense;
  double head = 0;
  for (const Linear& linear : model.head())
    head += static_cast<double>(std::max(packed_floats(linear.in(), linear.out()),
                                         packed_floats(linear.out(), linear.in())));
  const double all = static_cast<double>(layout.packed_floats());
  bytes[kHead] += kFloat * copies.packed * head;
  bytes[kBlocks] += kFloat * copies.packed * (all - head);
  MemoryNeed need;
  for (int part = 0; part < kParts; ++part)
    add_part(need, static_cast<Part>(part), model, bytes[part]);
  return need;
}

double training_bytes(const Model& model, int64_t T, bool recompute) {
  const int64_t rows = model.rows(T), C = model.config().width;
  const auto n = static_cast<double>(rows);
  double keep = mat_floats(n, C), back = 0, chunk = 0;
  for (size_t l = 0; l < model.blocks().size(); ++l) {
    const BlockPlan& plan = model.blocks()[l];
    const double state = state_floats(plan, rows);
    const bool each = plan.mix.causal && !plan.mixer->grows;  // a state before every chunk
    keep += mat_floats(static_cast<double>(answered_rows(model, l, rows).count()), C) +
            state * (each ? n / kChunk + 1 : 1) + (recompute ? 0 : saved_floats(plan, n));
    back = std::max(back, state + mat_floats(n, C));
    chunk = std::max(chunk, chunk_floats(model, plan, true));
  }
  const auto towers = static_cast<double>(model.sequences());
  return kFloat * (towers * keep + mat_floats(n, C) + back + chunk);
}

double inference_bytes(const Model& model, int64_t T) {
  const int64_t rows = model.rows(T), C = model.config().width;
  const auto n = static_cast<double>(rows);
  const int64_t spans = (rows + kSpan - 1) / kSpan;
  double most = 0;
  for (const BlockPlan& plan : model.blocks()) {
    double state = state_floats(plan, rows);
    if (spans > 1)
      state += static_cast<double>(spans) *
               (state_floats(plan, kSpan) + (plan.mix.causal ? state_floats(plan, rows) : 0));
    most = std::max(most, state + chunk_floats(model, plan, false));
  }
  return kFloat * (mat_floats(n, C) + most);
}

MemoryNeed inference_need(const Model& model, int threads, int64_t examples, int64_t T,
                          double copies) {
  MemoryNeed need =
      weights_need(model, {.dense = copies, .packed = 1, .sparse = copies, .side = copies});
  const auto n = static_cast<double>(examples);
  if (!model.of_tokens())
    need.add("config.classes",
             fmt::format("answers to {} texts in {} classes", examples, model.config().classes),
             kFloat * n *
                 (kAnswers * static_cast<double>(model.config().classes) +
                  static_cast<double>(model.sequences() * model.vector_width())));
  // A longer sequence than a span has all threads for itself.
  const double at_once = model.rows(T) > kSpan ? 1 : std::min<double>(threads, n);
  need.add("config.length", fmt::format("texts of {} tokens", T),
           at_once * inference_bytes(model, T));
  return need;
}

}  // namespace linnet
