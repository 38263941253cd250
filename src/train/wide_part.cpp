// wide_part.cpp -- n-grams of both parts, the regression, and the sum of the two.
#include "train/wide_part.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "models/inference.h"
#include "train/blend.h"
#include "train/naive_bayes.h"

namespace linnet {
namespace {

constexpr size_t kExamples = 1024;  // at a time

// The n-grams of all examples of a part. `visit` sees the examples, some at a time.
NgramTexts read_examples(Context& context, ExampleStream& stream, const ModelConfig& config,
                         const std::function<void(std::span<const Example>)>& visit) {
  NgramTexts texts;
  std::vector<Example> examples;
  for (bool more = true; more;) {
    examples.clear();
    while (examples.size() < kExamples && (more = stream.next(examples))) {
    }
    std::vector<std::vector<uint32_t>> ids(examples.size());
    context.parallel(static_cast<int64_t>(ids.size()), [&](int64_t task, int) {
      const auto i = static_cast<size_t>(task);
      wide_ngrams(examples[i].tokens, config.wide, config.wide_bits, ids[i]);
    });
    for (size_t i = 0; i < ids.size(); ++i) {
      texts.rows.add(ids[i]);
      texts.labels.push_back(examples[i].label);
    }
    visit(examples);
  }
  return texts;
}

// Both parts, each times its weight, in one block.
Block joined(const Model& deep, const float* values, const Model& model,
             std::span<const LogisticModel> tables, const Blend& blend) {
  LINNET_ASSERT(model.layout().floats() >= deep.layout().floats());
  Block block(model.layout().floats());
  float* all = block.data();
  std::copy_n(values, deep.layout().floats(), all);  // the table stands behind all others
  const Linear& last = model.head().back();
  const auto scale_by = [&](int64_t offset, int64_t count) {
    for (int64_t i = offset; i < offset + count; ++i)
      all[i] = static_cast<float>(blend.first * all[i]);
  };
  scale_by(last.matrix.weight, last.in() * last.out());
  scale_by(last.bias, last.out());
  const WideTable& wide = model.wide();
  for (int64_t c = 0; c < wide.columns; ++c) {
    const LogisticModel& table = tables[static_cast<size_t>(c)];
    all[last.bias + wide.classes - wide.columns + c] +=
        static_cast<float>(blend.second * table.bias);
    for (size_t id = 0; id < table.weights.size(); ++id)
      all[wide.weight + static_cast<int64_t>(id) * wide.columns + c] =
          static_cast<float>(blend.second * table.weights[id]);
  }
  return block;
}

}  // namespace

WideFit fit_wide_part(Context& context, const Model& deep, const float* values, const Model& whole,
                      ExampleStream& train, ExampleStream& validation,
                      const std::function<void(const std::string&)>& show) {
  const ModelConfig& config = whole.config();
  const auto classes = static_cast<size_t>(config.classes);
  show("reading n-grams");
  NgramTexts learnt = read_examples(context, train, config, [](auto) {});
  std::vector<float> u;  // what the deep part says of validation
  const NgramTexts kept = [&] {
    Block copy(deep.layout().floats());
    std::copy_n(values, copy.size(), copy.data());
    Inference inference(context, deep, std::move(copy));
    return read_examples(context, validation, config, [&](std::span<const Example> examples) {
      std::vector<Tokens> sequences;
      for (const Example& e : examples) sequences.emplace_back(e.tokens);
      const std::vector<float> logits = inference.logits(sequences);
      u.insert(u.end(), logits.begin(), logits.end());
    });
  }();
  const NaiveBayes bayes = fit_naive_bayes(
      context, learnt, kept, static_cast<int>(classes),
      {static_cast<int>(config.wide), static_cast<int>(config.wide_bits)},
      [&](double strength, double accuracy, bool) {
        show(fmt::format("n-grams alone: {:.4f} with strength {:g}", accuracy, strength));
      });
  std::vector<float> v(u.size());  // and the wide part
  const size_t first = classes - bayes.models().size();
  for (size_t i = 0; i < kept.labels.size(); ++i) {
    for (size_t c = first; c < classes; ++c)
      v[i * classes + c] = static_cast<float>(bayes.models()[c - first].score(kept.rows.row(i)));
  }
  const Blend blend = fit_blend(config.classes, u, v, kept.labels);
  show(fmt::format("{:.3f} of the deep part, {:.3f} of the n-grams", blend.first, blend.second));
  show("n-grams of validation too");
  learnt.add(kept);
  const NaiveBayes all = bayes.refitted(context, learnt);
  learnt = {};  // before the models are there twice
  return {joined(deep, values, whole, bayes.models(), blend),
          joined(deep, values, whole, all.models(), blend)};
}

}  // namespace linnet
