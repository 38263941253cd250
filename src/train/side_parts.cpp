// side_parts.cpp -- tokens and n-grams of both data parts, the fits, and the sum of all.
#include "train/side_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/error.h"
#include "models/inference.h"
#include "train/blend.h"
#include "train/naive_bayes.h"
#include "train/region_fit.h"

namespace linnet {
namespace {

constexpr size_t kExamples = 1024;  // at a time

struct SideTexts {
  NgramTexts ngrams;    // empty rows without a wide part
  RegionTexts regions;  // empty texts without a region part
};

void add_texts(const ModelConfig& config, const Example& example, std::vector<Tokens>& texts) {
  texts.emplace_back(example.tokens);
  if (config.task == "match") texts.emplace_back(example.other);
}

// All examples of a data part. `visit` sees what the deep part reads of them, some at a time.
SideTexts read_examples(Context& context, ExampleStream& stream, const Model& model,
                        const std::function<void(std::span<const Tokens>)>& visit) {
  const ModelConfig& config = model.config();
  SideTexts texts;
  if (config.task == "match") texts.ngrams.ratio = RatioOf::examples;
  std::vector<Example> examples;
  for (bool more = true; more;) {
    examples.clear();
    while (examples.size() < kExamples && (more = stream.next(examples))) {
    }
    std::vector<std::vector<uint32_t>> ids(examples.size());
    if (config.wide > 0) {
      context.parallel(static_cast<int64_t>(ids.size()), [&](int64_t task, int) {
        const auto i = static_cast<size_t>(task);
        std::vector<Tokens> own;
        add_texts(config, examples[i], own);
        wide_ngrams(own, config.wide, config.wide_bits, ids[i]);
      });
    }
    std::vector<Tokens> deep;
    for (const Example& e : examples) add_texts(config, e, deep);
    for (Tokens& tokens : deep) tokens = model.deep(tokens);
    visit(deep);
    for (size_t i = 0; i < ids.size(); ++i) {
      texts.ngrams.rows.add(ids[i]);
      texts.ngrams.labels.push_back(examples[i].label);
      texts.regions.labels.push_back(examples[i].label);
      std::vector<int32_t>& kept = texts.regions.tokens.emplace_back();
      if (config.regions > 0) kept.assign(deep[i].begin(), deep[i].end());
    }
  }
  return texts;
}

class SideFitter {
 public:
  SideFitter(Context& context, const Model& deep, const float* values, const Model& whole,
             uint64_t seed, const std::function<void(const std::string&)>& show)
      : context_(context), deep_(deep), values_(values), whole_(whole), seed_(seed), show_(show) {}

  SideFit fit(ExampleStream& train, ExampleStream& validation) {
    show_("reading texts");
    SideTexts learnt = read_examples(context_, train, whole_, [](auto) {});
    std::vector<std::vector<float>> said(1);  // of validation, by each part
    const SideTexts kept = read_validation(validation, said[0]);
    if (config().wide > 0) said.push_back(fit_wide(learnt.ngrams, kept.ngrams));
    SideFit fits{.on_train = start(), .on_both = {}};
    if (config().regions > 0) {
      fit_regions(context_, whole_.regions(), learnt.regions, seed_, fits.on_train.data(), show_);
      said.push_back(regions_say(fits.on_train, kept.regions));
    }
    weights_ = fit_blend(config().classes, said, kept.ngrams.labels);
    show_(fmt::format(
        "{:.3f} of the deep part{}{}", weights_[0],
        config().wide > 0 ? fmt::format(", {:.3f} of the n-grams", weights_[1]) : "",
        config().regions > 0 ? fmt::format(", {:.3f} of the regions", weights_.back()) : ""));
    join(fits.on_train);
    show_("on validation, too");
    learnt.ngrams.add(kept.ngrams);
    if (bayes_) bayes_ = bayes_->refitted(context_, learnt.ngrams);
    learnt.ngrams = {};  // before the model is there twice
    learnt.regions.add(kept.regions);
    fits.on_both = start();
    if (config().regions > 0)
      fit_regions(context_, whole_.regions(), learnt.regions, seed_, fits.on_both.data(), show_);
    join(fits.on_both);
    return fits;
  }

 private:
  const ModelConfig& config() const { return whole_.config(); }
  size_t classes() const { return static_cast<size_t>(config().classes); }

  // The deep part, and nothing at its side.
  Block start() const {
    LINNET_ASSERT(whole_.layout().floats() >= deep_.layout().floats());
    Block block(whole_.layout().floats());
    std::copy_n(values_, deep_.layout().floats(), block.data());  // the others stand behind
    return block;
  }

  // `said`: by the deep part.
  SideTexts read_validation(ExampleStream& validation, std::vector<float>& said) const {
    Block copy(deep_.layout().floats());
    std::copy_n(values_, copy.size(), copy.data());
    Inference inference(context_, deep_, std::move(copy));
    return read_examples(context_, validation, whole_, [&](std::span<const Tokens> sequences) {
      const std::vector<float> logits = inference.logits(sequences);
      said.insert(said.end(), logits.begin(), logits.end());
    });
  }

  std::vector<float> fit_wide(const NgramTexts& learnt, const NgramTexts& kept) {
    bayes_ = fit_naive_bayes(
        context_, learnt, kept, static_cast<int>(classes()),
        {static_cast<int>(config().wide), static_cast<int>(config().wide_bits)},
        [&](double strength, double accuracy, bool) {
          show_(fmt::format("n-grams alone: {:.4f} with strength {:g}", accuracy, strength));
        });
    std::vector<float> said(kept.labels.size() * classes());
    const size_t first = classes() - bayes_->models().size();
    for (size_t i = 0; i < kept.labels.size(); ++i) {
      for (size_t c = first; c < classes(); ++c)
        said[i * classes() + c] =
            static_cast<float>(bayes_->models()[c - first].score(kept.rows.row(i)));
    }
    return said;
  }

  std::vector<float> regions_say(const Block& block, const RegionTexts& texts) const {
    std::vector<float> said(texts.labels.size() * classes());
    context_.parallel(static_cast<int64_t>(texts.labels.size()), [&](int64_t task, int) {
      const auto i = static_cast<size_t>(task);
      add_region_logits(whole_.regions(), block.data(), texts.tokens[i],
                        said.data() + i * classes());
    });
    return said;
  }

  // Every part times its weight.
  void join(Block& block) const {
    float* all = block.data();
    const auto scale_by = [&](double weight, int64_t offset, int64_t count) {
      for (int64_t i = offset; i < offset + count; ++i)
        all[i] = static_cast<float>(weight * all[i]);
    };
    const Linear& last = whole_.head().back();
    scale_by(weights_[0], last.matrix.weight, last.in() * last.out());
    scale_by(weights_[0], last.bias, last.out());
    if (const RegionTable& table = whole_.regions(); table.places > 0) {
      scale_by(weights_.back(), table.out, table.units * table.columns);
      scale_by(weights_.back(), table.out_bias, table.columns);
    }
    const WideTable& wide = whole_.wide();
    for (int64_t c = 0; bayes_ && c < wide.columns; ++c) {
      const LogisticModel& table = bayes_->models()[static_cast<size_t>(c)];
      all[last.bias + wide.classes - wide.columns + c] +=
          static_cast<float>(weights_[1] * table.bias);
      for (size_t id = 0; id < table.weights.size(); ++id)
        all[wide.weight + static_cast<int64_t>(id) * wide.columns + c] =
            static_cast<float>(weights_[1] * table.weights[id]);
    }
  }

  Context& context_;
  const Model& deep_;
  const float* values_;
  const Model& whole_;
  uint64_t seed_;
  const std::function<void(const std::string&)>& show_;
  std::optional<NaiveBayes> bayes_;
  std::vector<double> weights_;  // of the deep, the wide and the region part, of those that are
};

}  // namespace

SideFit fit_side_parts(Context& context, const Model& deep, const float* values, const Model& whole,
                       ExampleStream& train, ExampleStream& validation, uint64_t seed,
                       const std::function<void(const std::string&)>& show) {
  return SideFitter(context, deep, values, whole, seed, show).fit(train, validation);
}

}  // namespace linnet
