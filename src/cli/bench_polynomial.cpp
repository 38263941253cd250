// bench_polynomial.cpp -- linnet bench polynomial: what each layer can fit, on forms of a known
// degree.
//
// A small model of one block for every layer of the polynomial paper in each of its three places
// (feed-forward layer, phi, token mixer), beside softmax and kernel attention with GELU and beside
// the mean of all tokens with GELU: same data, same steps. Feed-forward layers stand behind the
// mean and behind kernel attention. The head is narrow, two hidden units, so that products have to
// be made in the block. Beside them all the best sum of functions of single tokens, a logistic
// regression on which tokens are there: what needs no product.
#include "cli/bench_polynomial.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/measure.h"
#include "cli/streams.h"
#include "cli/terminal.h"
#include "data/polynomial.h"
#include "train/logistic.h"
#include "train/trainer.h"

namespace linnet {
namespace {

using Json = nlohmann::ordered_json;

struct Contender {
  const char *name, *place;
  const char *mixer = nullptr, *phi = nullptr, *ffn = nullptr;  // none: the regression
};
constexpr Contender kContenders[] = {
    {"sum", "no product"},
    {"softmax", "attention", "softmax", "softplus", "gelu"},
    {"kernel", "attention", "kernel", "softplus", "gelu"},
    {"mean", "neither", "mean", "softplus", "gelu"},
    {"relu2", "feed-forward", "mean", "softplus", "relu2"},
    {"bilinear", "feed-forward", "mean", "softplus", "bilinear"},
    {"squares", "feed-forward", "mean", "softplus", "squares"},
    {"squares-linear", "feed-forward", "mean", "softplus", "squares-linear"},
    {"relu2", "behind attention", "kernel", "softplus", "relu2"},
    {"bilinear", "behind attention", "kernel", "softplus", "bilinear"},
    {"squares-linear", "behind attention", "kernel", "softplus", "squares-linear"},
    {"relu2", "phi", "kernel", "relu2", "gelu"},
    {"bilinear", "phi", "kernel", "bilinear", "gelu"},
    {"squares", "phi", "kernel", "squares", "gelu"},
    {"linear>squares", "phi", "kernel", "linear>squares", "gelu"},
    {"poly-relu2", "mixer", "poly-relu2", "softplus", "gelu"},
    {"poly-bilinear", "mixer", "poly-bilinear", "softplus", "gelu"},
    {"poly-squares", "mixer", "poly-squares", "softplus", "gelu"},
    {"poly-squares-linear", "mixer", "poly-squares-linear", "softplus", "gelu"},
};
std::string name_of(const Contender& c) { return fmt::format("{}, {}", c.name, c.place); }

std::vector<Contender> chosen(const std::vector<std::string>& layers) {
  std::vector<Contender> all(std::begin(kContenders), std::end(kContenders));
  if (!layers.empty())
    std::erase_if(all, [&](const Contender& c) {
      return std::ranges::count(layers, name_of(c)) + std::ranges::count(layers, c.name) == 0;
    });
  return all;
}

constexpr int64_t kTrain = 20000, kTest = 4000, kBatch = 64;

double fit(Context& context, const Contender& contender, const PolynomialRule& rule,
           const std::vector<Example>& rows, uint64_t seed, int64_t steps) {
  ModelConfig config;
  config.vocab = polynomial_vocabulary(rule);
  config.length = rule.length;
  config.width = 32;
  config.heads = 2;
  config.blocks = 1;
  config.hidden = 64;
  config.ffn_match = "params";
  config.head_units = 2;
  config.positions = "none";
  config.pool = "mean";
  config.dropout = 0;
  config.mixer = contender.mixer;
  config.phi = contender.phi;
  config.ffn = contender.ffn;
  const Model model(config);
  Trainer trainer(context, model, Parameters::initial(model, seed),
                  {.optimizer = {.lr = 0.05, .weight_decay = 0.01, .warmup = 200}, .seed = seed});
  for (int64_t step = 0; step < steps; ++step) {
    std::vector<const Example*> batch;
    for (int64_t i = 0; i < kBatch; ++i)
      batch.push_back(&rows[static_cast<size_t>((step * kBatch + i) % kTrain)]);
    trainer.accumulate(batch);
    trainer.update();
  }
  return evaluate(context, model, trainer.values(),
                  std::span(rows).subspan(static_cast<size_t>(kTrain)))
      .accuracy;
}

double fit_sum(const PolynomialRule& rule, const std::vector<Example>& examples) {
  SparseRows train;
  std::vector<uint8_t> positive;
  const auto features_of = [](const Example& example) {
    std::vector<uint32_t> features(example.tokens.begin(), example.tokens.end());
    std::ranges::sort(features);
    features.erase(std::unique(features.begin(), features.end()), features.end());
    return features;
  };
  for (const Example& example : std::span(examples).first(static_cast<size_t>(kTrain))) {
    train.add(features_of(example));
    positive.push_back(example.label == 1);
  }
  const std::vector<float> scales(static_cast<size_t>(polynomial_vocabulary(rule)), 1);
  const LogisticModel model = fit_logistic(train, positive, scales, {});
  int64_t hits = 0;
  for (const Example& example : std::span(examples).subspan(static_cast<size_t>(kTrain)))
    hits += (model.score(features_of(example)) > 0) == (example.label == 1);
  return static_cast<double>(hits) / static_cast<double>(kTest);
}

}  // namespace

std::vector<std::string> polynomial_layers() {
  std::vector<std::string> names;
  for (const Contender& c : kContenders) {
    if (std::ranges::count(names, c.name) == 0) names.emplace_back(c.name);
    names.push_back(name_of(c));
  }
  return names;
}

void bench_polynomial(const BenchPolynomialOptions& options) {
  Context context;
  Progress progress("bench polynomial");
  const std::vector<Contender> contenders = chosen(options.layers);
  const double runs = static_cast<double>(contenders.size()) * 3 * options.seeds;
  double done = 0;
  std::vector<std::vector<std::string>> table = {{"layer", "place"}};
  for (const Contender& c : contenders) table.push_back({c.name, c.place});
  for (int degree = 1; degree <= 3; ++degree) {
    table[0].push_back(fmt::format("degree {}", degree));
    std::vector<std::vector<double>> scores(contenders.size());
    for (int seed = 1; seed <= options.seeds; ++seed) {
      const PolynomialRule rule{.degree = degree};
      std::vector<Example> rows;
      for (PolynomialExample& row :
           make_polynomial(rule, static_cast<uint64_t>(seed), kTrain + kTest)) {
        rows.push_back({.tokens = std::move(row.tokens), .label = row.label});
      }
      for (size_t i = 0; i < contenders.size(); ++i) {
        const Contender& c = contenders[i];
        progress.show(done / runs, fmt::format("degree {}, {}", degree, name_of(c)));
        scores[i].push_back(c.mixer == nullptr ? fit_sum(rule, rows)
                                               : fit(context, c, rule, rows,
                                                     static_cast<uint64_t>(seed), options.steps));
        done += 1;
        if (options.json) {
          write_json(Json{{"layer", c.name},
                          {"place", c.place},
                          {"degree", degree},
                          {"seed", seed},
                          {"steps", options.steps},
                          {"accuracy", scores[i].back()}});
          flush_out();
        }
      }
    }
    for (size_t i = 0; i < scores.size(); ++i) {
      table[i + 1].push_back(fmt::format("{:.1f}%", 100 * median(scores[i])));
    }
  }
  progress.show(1, "");
  if (!options.json) {
    print_out("\nTest accuracy, median of {} seeds\n", options.seeds);
    write_out(format_table(table));
  }
}

}  // namespace linnet
