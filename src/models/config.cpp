// config.cpp -- reads, checks and writes a model's configuration.
#include "models/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/file.h"
#include "core/registry.h"
#include "core/settings.h"
#include "features/phi_text.h"
#include "layers/feed_forward.h"
#include "layers/short_conv.h"
#include "mixers/mixer.h"
#include "models/ngram_table.h"
#include "models/region_table.h"
#include "models/wide_table.h"

namespace linnet {
namespace {

using Json = nlohmann::json;

// No size above this: sums and products of a few of them stay far below 2^63.
constexpr int64_t kLargest = int64_t{1} << 24;

// The fields of a config, once, for reading, writing and the help of flags: visit(name, member,
// help).
template <class Config, class Visit>
void for_each_field(Config& c, const Visit& visit) {
  visit("task", c.task, "classify (one sequence), match (two) or tokens (a class for each)");
  visit("vocab", c.vocab, "Number of different tokens");
  visit("classes", c.classes, "Number of classes");
  visit("loss", c.loss, "softmax: one class is true; sigmoid: any number of them (many labels)");
  visit("length", c.length, "Most tokens of a sequence; size of the learned positions");
  visit("width", c.width, "Numbers a token");
  visit("heads", c.heads, "Heads of the mixer; they divide the width");
  visit("blocks", c.blocks, "Blocks of a mixer and a feed-forward layer");
  visit("hidden", c.hidden, "Hidden units of the feed-forward layer");
  visit("head_units", c.head_units, "Hidden units of the classifier");
  visit("mixer", c.mixer, "How tokens see each other: `linnet list mixers`");
  visit("first_mixer", c.first_mixer, "Mixer of the first block, where it is another");
  visit("phi", c.phi, "Feature map of kernel attention: `linnet list features`, in a row with >");
  visit("ffn", c.ffn, "Feed-forward layer: `linnet list ffns`");
  visit("ffn_match", c.ffn_match,
        "params: as many parameters as gelu has with that many units; or none");
  visit("conv", c.conv, "Taps of a short convolution in front of the mixer; 0: none");
  visit("ngrams", c.ngrams,
        "Longest n-grams of tokens, from 2 tokens on, added to the embeddings; 0: none");
  visit("ngram_buckets", c.ngram_buckets, "Rows of the table that n-grams are hashed to");
  visit("causal", c.causal, "A token sees only those before it");
  visit("positions", c.positions, "learned, sinusoidal or none");
  visit("pool", c.pool,
        "What is classified: cls, last, mean, mean-first (its norm comes after the mean, so tokens "
        "may weigh more or less), or max (of each channel its largest); none with task tokens");
  visit("pair", c.pair,
        "How match joins its two vectors: concat, compare (with product and difference) or "
        "distance (with product and |difference|)");
  visit("bag", c.bag, "The classifier also sees the mean of the embeddings, past all blocks");
  visit("wide", c.wide,
        "Longest n-grams of tokens, from 1 on, with a weight of their own beside the model; of a "
        "pair those that both texts have; 0: none");
  visit("wide_bits", c.wide_bits, "2 to this power are the weights that they are hashed to");
  visit("wide_length", c.wide_length,
        "Tokens of a text that they are taken from, where that is more than the length");
  visit("regions", c.regions,
        "Tokens in a row that units beside the model look at, each for its largest sum; 0: none");
  visit("region_units", c.region_units,
        "Such units, a multiple of 64; of 256, so that four groups can be trained apart");
  visit("region_rows", c.region_rows, "Tokens that they tell apart; those with higher ids are one");
  visit("dropout", c.dropout, "Share of numbers dropped in training");
  visit("norm_eps", c.norm_eps, "Guard of the norms");
  visit("init_embed", c.init_embed, "Size of the embeddings at the start, times the usual");
  visit("init_qk", c.init_qk,
        "Size of queries and keys at the start, times the usual: above 1 for a sharper phi");
  visit("init_out", c.init_out,
        "Size of what blocks add at the start, times the usual: 0 for blocks that start as the "
        "identity");
}

void check_range(const char* name, int64_t value, int64_t least, int64_t most = kLargest) {
  check_setting("config", name, value, least, most);
}

void check_wide(const ModelConfig& c) {
  check_range("wide", c.wide, 0, kMostNgrams);
  check_range("wide_bits", c.wide_bits, 1, kMostWideBits);
  check_range("wide_length", c.wide_length, 0);
  if (c.wide == 0) return;
  if (c.task == "tokens" || c.loss != "softmax")
    throw Error("[config.wide] a wide part is for texts with one label: must be 0 here");
  if (wide_columns(c.classes) > int64_t{1} << (kMostWideBits - c.wide_bits))
    throw Error(fmt::format("[config.wide_bits] 2^{} weights for each of {} classes are too many",
                            c.wide_bits, c.classes));
}

void check_regions(const ModelConfig& c) {
  check_range("regions", c.regions, 0, kMostRegionTokens);
  check_range("region_units", c.region_units, kRegionBlock, 1 << 14);
  check_range("region_rows", c.region_rows, 1);
  if (c.region_units % kRegionBlock != 0)
    throw Error(fmt::format("[config.region_units] must be a multiple of {}, not {}", kRegionBlock,
                            c.region_units));
  if (c.regions == 0) return;
  if (c.task != "classify" || c.loss != "softmax")
    throw Error("[config.regions] a region part is for one text with one label: must be 0 here");
  if (c.region_units * wide_columns(c.classes) > kMostRegionNumbers)
    throw Error(fmt::format(
        "[config.region_units] {} units with a weight for each of {} classes are too many",
        c.region_units, c.classes));
  if (c.regions * c.region_units * region_rows_of(c) > kMostRegionNumbers)
    throw Error(
        fmt::format("[config.region_rows] {} rows of {} units for each of {} places are too many",
                    region_rows_of(c), c.region_units, c.regions));
}

// Stages of phi have matrices a head: so many that their list alone would fill the memory are a
// fault.
void check_heads(const ModelConfig& c, size_t stages) {
  constexpr int64_t kMost = 1 << 18;
  if (c.blocks * c.heads * static_cast<int64_t>(stages) <= kMost) return;
  throw Error(
      fmt::format("[config.heads] {} heads in {} blocks, with a phi of {} stages, are more "
                  "than {} in all",
                  c.heads, c.blocks, stages, kMost));
}

// A size at the start, times the usual.
void check_init(const char* name, double value, bool zero) {
  if (value <= 100 && (zero ? value >= 0 : value > 0)) return;
  throw Error(fmt::format("[config.{}] must be {} and at most 100, not {}", name,
                          zero ? "at least 0" : "above 0", value));
}

void check_choice(const char* name, const std::string& value,
                  std::initializer_list<const char*> known) {
  check_setting("config", name, value, known);
}

}  // namespace

const Mixer& mixer_of(const ModelConfig& config, int64_t l) {
  return find_mixer(l == 0 && !config.first_mixer.empty() ? config.first_mixer : config.mixer);
}

std::string mixers_text(const ModelConfig& config) {
  const std::string_view first = mixer_of(config, 0).name, others = mixer_of(config, 1).name;
  if (first == others || config.blocks == 1) return std::string(first);
  return fmt::format("{}, then {}", first, others);
}

std::string phi_of(const ModelConfig& config, const Mixer& mixer) {
  return mixer.phi.empty() ? config.phi : std::string(mixer.phi);
}

int64_t hidden_of(const ModelConfig& config) {
  if (config.ffn_match == "none") return config.hidden;
  const int64_t count = find_feed_forward("gelu").parameters(config.width, config.hidden);
  return find_feed_forward(config.ffn).hidden_for(config.width, count);
}

int64_t region_rows_of(const ModelConfig& config) {
  return std::min(config.region_rows, config.vocab);
}

void check_config(const ModelConfig& c) {
  check_choice("task", c.task, {"classify", "match", "tokens"});
  check_range("vocab", c.vocab, 1);
  check_range("classes", c.classes, 1, 1 << 20);
  check_choice("loss", c.loss, {"softmax", "sigmoid"});
  if (c.task == "tokens" && c.loss == "sigmoid") {
    throw Error("[config.loss] a token has one class: sigmoid is for the tasks classify and match");
  }
  check_range("length", c.length, 1);
  check_range("width", c.width, 1, 1 << 16);
  check_range("heads", c.heads, 1, 1 << 12);
  check_range("blocks", c.blocks, 1, 1 << 10);
  check_range("hidden", c.hidden, 1, 1 << 20);
  check_range("head_units", c.head_units, c.task == "match" ? 2 : 1, 1 << 20);
  if (c.width % c.heads != 0) {
    throw Error(fmt::format("[config.heads] heads must divide width: width={}, heads={}", c.width,
                            c.heads));
  }
  if (!c.first_mixer.empty()) find_in(mixers(), "first_mixer", c.first_mixer);
  for (int64_t l = 0; l < std::min<int64_t>(c.blocks, 2); ++l) {
    const Mixer& mixer = mixer_of(c, l);
    if (mixer.uses_feature) check_heads(c, parse_phi(phi_of(c, mixer)).size());
    if (c.causal && !mixer.causal) {
      throw Error(
          fmt::format("[config.causal] mixer \"{}\" looks at the whole sequence: it cannot "
                      "be causal",
                      mixer.name));
    }
  }
  find_feed_forward(c.ffn);
  check_choice("ffn_match", c.ffn_match, {"none", "params"});
  check_range("conv", c.conv, 0, kMostTaps);
  if (c.ngrams != 0 && (c.ngrams < 2 || c.ngrams > kMostNgrams)) {
    throw Error(
        fmt::format("[config.ngrams] must be 0 (none) or 2 to {}, not {}", kMostNgrams, c.ngrams));
  }
  check_range("ngram_buckets", c.ngram_buckets, 1, kMostNgramBuckets);
  check_wide(c);
  check_regions(c);
  check_choice("positions", c.positions, {"learned", "sinusoidal", "none"});
  if (c.task == "tokens") {
    check_choice("pool", c.pool, {"none"});
  } else {
    check_choice("pool", c.pool, {"cls", "mean", "mean-first", "max", "last"});
  }
  check_choice("pair", c.pair, {"concat", "compare", "distance"});
  if (c.bag && c.task == "tokens")
    throw Error("[config.bag] is of a whole sequence: it cannot be true with task tokens");
  if (c.causal && c.pool == "cls") {
    throw Error(
        "[config.pool] the CLS token stands in front and sees nothing in a causal model: use mean "
        "or last");
  }
  if (!(c.dropout >= 0 && c.dropout < 1)) {
    throw Error(fmt::format("[config.dropout] must be at least 0 and below 1, not {}", c.dropout));
  }
  if (!(c.norm_eps > 0 && c.norm_eps <= 1)) {
    throw Error(fmt::format("[config.norm_eps] must be above 0 and at most 1, not {}", c.norm_eps));
  }
  check_init("init_embed", c.init_embed, false);
  check_init("init_qk", c.init_qk, false);
  check_init("init_out", c.init_out, true);
}

ModelConfig config_from_json(const Json& json, std::string_view place) try {
  // What the data must go through stands beside the model's own settings (data/task_settings.h).
  const auto config = settings_from_json<ModelConfig>(
      "config", json, [](auto& c, const auto& visit) { for_each_field(c, visit); }, "data");
  check_config(config);
  return config;
} catch (const Error& error) {
  if (place.empty()) throw;
  throw Error(fmt::format("[{}] {}", place, error.what()));
}

ModelConfig parse_config(std::string_view text, std::string_view place) {
  return config_from_json(parse_settings(text, place), place);
}

nlohmann::ordered_json config_to_json(const ModelConfig& config) {
  nlohmann::ordered_json json;
  for_each_field(config,
                 [&](const char* name, const auto& member, const char*) { json[name] = member; });
  return json;
}

std::map<std::string, std::string> config_help() {
  const ModelConfig config;
  std::map<std::string, std::string> help;
  for_each_field(config,
                 [&](const char* name, const auto&, const char* text) { help[name] = text; });
  return help;
}

}  // namespace linnet
