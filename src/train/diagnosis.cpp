// diagnosis.cpp -- looks at parameters, then at outputs stage by stage, then at gradients from the
// head down.
#include "train/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/file.h"
#include "kernels/rows.h"

namespace linnet {
namespace {

std::string name_of(const Stage& stage) {
  switch (stage.kind) {
    case Stage::embedding:
      return "embedding";
    case Stage::mixer:
      return fmt::format("block {} mixer", stage.block);
    case Stage::feed_forward:
      return fmt::format("block {} feed-forward", stage.block);
    default:
      return "head";
  }
}

// The stage that a parameter belongs to, by its name: blocks.1.norm2.weight is of block 1's
// feed-forward layer.
Stage stage_of(const ParamSpec& spec) {
  constexpr std::string_view kBlocks = "blocks.";
  if (spec.name.starts_with("embed.")) return {Stage::embedding};
  if (!spec.name.starts_with(kBlocks)) return {Stage::head};
  size_t end = 0;
  const size_t block = std::stoul(spec.name.substr(kBlocks.size()), &end);
  const std::string part = spec.name.substr(kBlocks.size() + end + 1);
  const bool feeds = part.starts_with("norm2.") || part.starts_with("ffn.");
  return {feeds ? Stage::feed_forward : Stage::mixer, block};
}

// Largest |x|; NaN if any is NaN.
double largest_of(int64_t n, const float* x) {
  double largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double size = std::abs(x[i]);
    if (!(size <= largest)) largest = size;
    if (std::isnan(largest)) break;
  }
  return largest;
}

// Written so that a NaN is absurd.
bool absurd(double size) { return !(size <= kAbsurd); }

// Every parameter by its stage, embedding first.
struct Grouped {
  std::string stage;
  std::vector<const ParamSpec*> specs;
};
std::vector<Grouped> group(const Model& model) {
  std::vector<Grouped> groups = {{name_of({Stage::embedding}), {}}};
  for (size_t l = 0; l < model.blocks().size(); ++l) {
    groups.push_back({name_of({Stage::mixer, l}), {}});
    groups.push_back({name_of({Stage::feed_forward, l}), {}});
  }
  groups.push_back({name_of({Stage::head}), {}});
  for (const ParamSpec& spec : model.layout().specs()) {
    std::ranges::find(groups, name_of(stage_of(spec)), &Grouped::stage)->specs.push_back(&spec);
  }
  return groups;
}

double norm_of(const Grouped& grouped, const float* block) {
  double sum = 0;
  for (const ParamSpec* spec : grouped.specs)
    sum += sum_of_squares(spec->size(), block + spec->offset);
  return std::sqrt(sum);
}

void look_at_parameters(const Model& model, const float* values, Diagnosis& found) {
  for (const ParamSpec& spec : model.layout().specs()) {
    const double largest = largest_of(spec.size(), values + spec.offset);
    if (!found.where.empty() || !absurd(largest)) continue;
    found.where = "parameter " + spec.name;
    found.largest = largest;
  }
}

// The backward runs from the head down: the last stage in the order of the forward is its first.
void look_at_gradients(const std::vector<Grouped>& groups, const float* grads, Diagnosis& found) {
  for (auto grouped = groups.rbegin(); grouped != groups.rend(); ++grouped) {
    for (const ParamSpec* spec : grouped->specs) {
      const double largest = largest_of(spec->size(), grads + spec->offset);
      if (!found.where.empty() || !absurd(largest)) continue;
      found.where = "gradient of " + grouped->stage;
      found.largest = largest;
    }
  }
}

}  // namespace

Diagnosis diagnose(BatchRun run, std::span<const Example* const> batch, uint64_t seed,
                   uint64_t first) {
  Diagnosis found;
  run.recompute = false;  // which changes no bit, and keeps what every stage gave
  const std::vector<Grouped> groups = group(run.model);
  look_at_parameters(run.model, run.weights.params, found);
  const bool in_parameters = !found.where.empty();
  Block grads(run.model.layout().floats());  // of a sparse tail zeros
  Workspace workspace;
  int64_t count = 0;
  for (size_t i = 0; i < batch.size(); ++i) {
    const VisitStage visit = [&](const Stage& stage, int64_t rows, int64_t cols, ConstMat x) {
      for (int64_t r = 0; r < rows && found.where.empty(); ++r) {
        const double largest = largest_of(cols, x.row(r));
        if (!absurd(largest)) continue;
        found.where = "output of " + name_of(stage);
        found.largest = largest;
      }
    };
    const uint64_t key = dropout_key(seed, first + i);
    count += run_example(run, *batch[i], key, workspace, grads.data(), visit).count;
    look_at_gradients(groups, grads.data(), found);
    if (found.where.empty()) continue;
    if (!in_parameters) found.record = batch[i]->record;
    break;
  }
  const auto examples = static_cast<double>(std::max<int64_t>(count, 1));
  for (const Grouped& grouped : groups) {
    found.groups.push_back({.stage = grouped.stage,
                            .values = norm_of(grouped, run.weights.params),
                            .gradient = norm_of(grouped, grads.data()) / examples});
  }
  return found;
}

void refuse_answer(const std::filesystem::path& folder, const Model& model, const float* values) {
  for (const ParamSpec& spec : model.layout().specs()) {
    const std::span<const float> tensor(values + spec.offset, static_cast<size_t>(spec.size()));
    const auto bad = std::ranges::find_if(tensor, [](float x) { return !std::isfinite(x); });
    if (bad == tensor.end()) continue;
    throw Error(fmt::format("[{}] an answer is not finite: value {} of tensor {} is {}",
                            place_of(folder), bad - tensor.begin() + 1, spec.name, *bad));
  }
  throw Error(
      fmt::format("[{}] an answer is not finite, though all weights are: numbers between them are "
                  "too large",
                  place_of(folder)));
}

}  // namespace linnet
