// oracle.cpp -- linnet oracle (hidden): logits, loss and all gradients of a model on given tokens,
// for comparison.
#include <fmt/format.h>

#include <filesystem>

#include "cli/verbs.h"
#include "core/error.h"
#include "models/inference.h"
#include "models/model_folder.h"
#include "models/safetensors.h"
#include "train/trainer.h"

namespace linnet {
namespace {

struct Options {
  std::string model, data, out;
  bool recompute = false;
  int threads = 0;
};

std::vector<float> read_vector(const SafetensorsFile& file, const std::string& name) {
  const auto it = file.tensors().find(name);
  if (it == file.tensors().end() || it->second.shape.size() != 1) {
    throw Error(fmt::format("[--data] needs a vector named {}", name));
  }
  std::vector<float> values(static_cast<size_t>(it->second.shape[0]));
  file.read(name, values.data(), it->second.shape);
  return values;
}

// tokens (concatenated), lengths and labels as vectors of floats; a classifier of tokens has a
// label a token, a model of many labels a zero or one for every class of every example.
std::vector<Example> read_examples(const std::string& path, const Model& model) {
  const int64_t towers = model.sequences();
  const SafetensorsFile file = SafetensorsFile::open(path);
  const auto tokens = read_vector(file, "tokens"), lengths = read_vector(file, "lengths"),
             labels = read_vector(file, "labels");
  const auto classes = static_cast<size_t>(model.config().classes);
  std::vector<Example> examples;
  auto at = tokens.begin();
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (i % static_cast<size_t>(towers) == 0) {
      const size_t e = examples.size();
      if (e >= labels.size()) throw Error("[--data] fewer labels than examples");
      examples.push_back({.tokens = {}, .label = static_cast<int>(labels[e])});
      if (model.many_labels() && (e + 1) * classes > labels.size())
        throw Error("[--data] fewer labels than examples times classes");
      for (size_t c = 0; model.many_labels() && c < classes; ++c) {
        if (labels[e * classes + c] > 0) examples.back().targets.push_back(static_cast<int>(c));
      }
    }
    const int64_t from = at - tokens.begin();
    const auto n = static_cast<int64_t>(lengths[i]);
    if (n < 0 || n > tokens.end() - at) throw Error("[--data] fewer tokens than the lengths say");
    auto& to =
        i % static_cast<size_t>(towers) == 0 ? examples.back().tokens : examples.back().other;
    for (; static_cast<int64_t>(to.size()) < n; ++at) to.push_back(static_cast<int32_t>(*at));
    if (!model.of_tokens()) continue;
    if (from + n > static_cast<int64_t>(labels.size()))
      throw Error("[--data] fewer labels than tokens");
    examples.back().targets.assign(labels.begin() + from, labels.begin() + from + n);
  }
  return examples;
}

void run(const Options& options) {
  Context context(options.threads);
  LoadedModel loaded = load_model(options.model);
  const Model model(loaded.config);
  const std::vector<Example> examples = read_examples(options.data, model);
  Block values(model.layout().floats());
  std::copy_n(loaded.values.data(), values.size(), values.data());
  Inference inference(context, model, std::move(values));
  std::vector<Tokens> sequences;
  std::vector<const Example*> batch;
  for (const Example& e : examples) {
    batch.push_back(&e);
    sequences.emplace_back(e.tokens);
    if (model.sequences() == 2) sequences.emplace_back(e.other);
  }
  const std::vector<float> logits =
      model.of_tokens() ? inference.all_token_logits(sequences) : inference.logits(sequences);
  Trainer trainer(context, model, std::move(loaded.values),
                  {.optimizer = {}, .recompute = options.recompute});
  const auto loss = static_cast<float>(trainer.accumulate(batch).loss);
  Block grads = trainer.copy_grads();
  for (int64_t i = 0; i < grads.size(); ++i)
    grads.data()[i] /= static_cast<float>(trainer.pending());
  std::vector<Tensor> tensors = {
      {"logits",
       {static_cast<int64_t>(logits.size()) / model.config().classes, model.config().classes},
       logits.data()},
      {"loss", {1}, &loss}};
  for (const ParamSpec& spec : model.layout().specs()) {
    tensors.push_back({"grad." + spec.name, spec.shape, grads.data() + spec.offset});
  }
  write_safetensors(options.out, tensors, {});
}

}  // namespace

void add_oracle(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("oracle", "Logits, loss and gradients on given tokens, for comparison");
  verb->group("");
  verb->add_option("model", options->model, "Model folder")->required();
  verb->add_option("--data", options->data, "Safetensors file with tokens, lengths and labels")
      ->required();
  verb->add_option("--out", options->out, "Safetensors file to write")->required();
  verb->add_option("--threads", options->threads, "Threads (0: all cores)");
  verb->add_flag("--recompute", options->recompute, "Recompute activations in the backward");
  verb->callback([options] { run(*options); });
}

}  // namespace linnet
