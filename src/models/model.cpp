// model.cpp -- builds the layers of a config and holds the parameters' values.
#include "models/model.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"

namespace linnet {

Model::Model(const ModelConfig& config) : config_(config) {
  check_config(config_);
  const int64_t C = config_.width;
  const auto eps = static_cast<float>(config_.norm_eps);
  embedding_ = layout_.add("embed.weight", {config_.vocab, C}, Init::normal, 1.0f, false);
  layout_.scale_start(embedding_, config_.init_embed);
  if (config_.pool == "cls") cls_ = layout_.add("embed.cls", {C}, Init::normal, 1.0f, false);
  if (config_.positions == "learned") {
    positions_ = layout_.add("embed.positions", {config_.length, C}, Init::zeros, 0.0f, false);
  }
  for (int64_t l = 0; l < config_.blocks; ++l) {
    const std::string name = fmt::format("blocks.{}.", l);
    BlockPlan block;
    block.width = C;
    block.mixer = &mixer_of(config_, l);
    block.mix = {.width = C,
                 .heads = config_.heads,
                 .head = C / config_.heads,
                 .causal = config_.causal,
                 .length = rows(config_.length),
                 .phi_text = phi_of(config_, *block.mixer)};
    block.norm1 = add_layer_norm(layout_, name + "norm1", C, eps);
    if (block.mixer->uses_q) block.q = add_linear(layout_, name + "mix.q", C, C);
    if (block.mixer->uses_k) block.k = add_linear(layout_, name + "mix.k", C, C);
    block.v = add_linear(layout_, name + "mix.v", C, C);
    block.mixer->build(layout_, name + "mix", block.mix);
    block.out = add_linear(layout_, name + "mix.out", C, C);
    block.norm2 = add_layer_norm(layout_, name + "norm2", C, eps);
    block.ffn = &find_feed_forward(config_.ffn);
    block.feed = {.width = C, .hidden = hidden_of(config_)};
    block.ffn->build(layout_, name + "ffn", block.feed);
    const auto start_with = [&](const Matrix& m, double factor) {
      if (m.in > 0) layout_.scale_start(m.weight, factor);
    };
    for (const Matrix& m : {block.q.matrix, block.k.matrix}) start_with(m, config_.init_qk);
    for (const Matrix& m : {block.out.matrix, block.feed.out.matrix, block.feed.linear})
      start_with(m, config_.init_out);
    blocks_.push_back(std::move(block));
  }
  final_norm_ = add_layer_norm(layout_, "final_norm", C, eps);
  const int64_t U = config_.head_units;
  const int64_t V = vector_width();
  std::vector<int64_t> sizes = {V, U, config_.classes};
  if (config_.task == "match")
    sizes = {(config_.pair == "concat" ? 2 : 4) * V, U, U / 2, config_.classes};
  if (of_tokens()) sizes = {C, config_.classes};
  for (size_t i = 0; i + 1 < sizes.size(); ++i) {
    head_.push_back(add_linear(layout_, fmt::format("head.{}", i), sizes[i], sizes[i + 1]));
  }
  // Last, since a parameter is drawn from the seed and its number: with conv, which starts as the
  // identity, the others are what they are without.
  for (size_t l = 0; config_.conv > 0 && l < blocks_.size(); ++l) {
    blocks_[l].conv = add_short_conv(layout_, fmt::format("blocks.{}.conv", l), C, config_.conv);
  }
  if (config_.bag) bag_norm_ = add_layer_norm(layout_, "bag_norm", C, eps);
  if (config_.ngrams > 0) {
    ngrams_ = add_ngram_table(layout_, "embed.ngrams", C, config_.ngrams, config_.ngram_buckets);
  }
  if (config_.wide > 0) {
    wide_ =
        add_wide_table(layout_, "wide.weight", config_.classes, config_.wide, config_.wide_bits);
  }
  if (config_.regions > 0) {
    regions_ = add_region_table(layout_, "regions", config_.classes, config_.regions,
                                region_rows_of(config_), config_.region_units);
  }
}

Tokens Model::deep(Tokens tokens) const {
  const auto most = static_cast<size_t>(config_.length);
  return read_length(config_) > config_.length && tokens.size() > most ? tokens.first(most)
                                                                       : tokens;
}

void Model::check(Tokens tokens) const {
  const auto T = static_cast<int64_t>(tokens.size());
  if (T == 0) throw Error("[sequence] has no token");
  if (T > config_.length && config_.positions == "learned") {
    throw Error(fmt::format("[sequence] has {} tokens, the model's learned positions end at {}", T,
                            config_.length));
  }
  for (const BlockPlan& block : blocks_) {
    if (T > config_.length && block.mixer->bounded)
      throw Error(fmt::format("[sequence] has {} tokens, the model's mixer \"{}\" ends at {}", T,
                              block.mixer->name, config_.length));
  }
  for (int64_t t = 0; t < T; ++t) {
    const int32_t token = tokens[static_cast<size_t>(t)];
    if (token < 0 || token >= config_.vocab) {
      throw Error(fmt::format("[sequence token {}] {} is not in the vocabulary of {}", t, token,
                              config_.vocab));
    }
  }
}

double Model::forward_flops(int64_t T, bool folded) const {
  const auto of = [](const Linear& l) {
    return 2.0 * static_cast<double>(l.in()) * static_cast<double>(l.out());
  };
  const auto row_count = static_cast<double>(rows(T));
  double total = 0;
  for (const BlockPlan& b : blocks_) {
    const MixerFlops mixer = b.mixer->flops(b.mix, rows(T));
    const double feature = b.mix.phi.flops(folded);
    double token = of(b.v) + mixer.absorb + feature;
    double answer = mixer.emit + feature + of(b.out) + b.ffn->flops(b.feed);
    token += 2.0 * static_cast<double>(b.conv.taps * b.conv.width);
    if (b.mixer->uses_k) token += of(b.k);
    if (b.mixer->uses_q) (b.mixer->absorbs_q ? token : answer) += of(b.q);
    // The last block answers one row only where one row is pooled.
    const bool one = &b == &blocks_.back() && !config_.causal &&
                     (config_.pool == "cls" || config_.pool == "last");
    total += token * row_count + answer * (one ? 1 : row_count);
  }
  for (const Linear& l : head_) total += of(l);
  return total;
}

Block Parameters::initial(const Model& model, uint64_t seed) {
  Block values(model.layout().floats());
  model.layout().initialise(seed, values.data());
  return values;
}

Parameters::Parameters(Context& context, const Model& model, Block values, bool training)
    : values_(std::move(values)), packed_(model.layout().packed_floats()) {
  LINNET_ASSERT(values_.size() == model.layout().floats());
  if (training) {
    packed_transposed_ = Block(model.layout().packed_floats());
  } else {
    fold(model);
  }
  pack(context, model);
}

void Parameters::fold(const Model& model) {
  for (const BlockPlan& b : model.blocks()) {
    if (!b.mix.phi.folds()) continue;
    for (const Linear* l : {&b.q, &b.k})
      chain_fold(b.mix.phi, values(), b.width, values() + l->matrix.weight, values() + l->bias);
  }
}

void Parameters::pack(Context& context, const Model& model) {
  model.layout().pack(context, values(), packed_.data(), packed_transposed_.data());
}

Weights Parameters::weights() const {
  return {.params = values_.data(),
          .packed = packed_.data(),
          .packed_transposed = packed_transposed_.data()};
}

}  // namespace linnet
