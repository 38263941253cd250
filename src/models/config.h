// config.h -- everything that makes a model, as one flat JSON object; checked before anything is
// built.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace linnet {

struct Mixer;

struct ModelConfig {
  // classify: one sequence; match: two, one encoder for both; tokens: a class for every token.
  std::string task = "classify";
  int64_t vocab = 256;
  int64_t classes = 2;
  // softmax: one class is true; sigmoid: each class is true or not (many labels). Not of tokens.
  std::string loss = "softmax";
  int64_t length = 1024;  // most tokens of a sequence; size of the learned positions
  int64_t width = 64;     // C
  int64_t heads = 2;      // H
  int64_t blocks = 2;     // L
  int64_t hidden = 256;   // of the feed-forward layer; see ffn_match
  int64_t head_units = 64;
  std::string mixer = "kernel";
  std::string first_mixer = "";  // of the first block; empty: `mixer`
  std::string phi = "softplus";
  std::string ffn = "gelu";
  // none: `hidden` units whatever the ffn; params: as many parameters as gelu has with `hidden`.
  std::string ffn_match = "none";
  int64_t conv = 0;  // taps of a short convolution over time before the mixer; 0: none
  // A token's row also has those of the n-grams of 2 .. `ngrams` tokens that end with it; 0: none.
  int64_t ngrams = 0;
  int64_t ngram_buckets = 1 << 18;  // rows of their table; of no effect without ngrams
  bool causal = false;
  std::string positions = "learned";  // learned, sinusoidal, none
  std::string pool = "cls";           // cls, mean, mean-first, max, last; none: every token
  std::string pair = "concat";        // match: or compare, distance
  bool bag = false;                   // the head also sees the mean of what goes into the blocks
  // A wide part beside the deep one: a weight a class for every n-gram of 1 .. `wide` tokens that a
  // text has, or both texts of a pair; 0: none. It is fitted, not trained (train/side_parts.h).
  int64_t wide = 0;
  int64_t wide_bits = 22;  // 2^wide_bits weights a class; of no effect without wide
  // Where it is more than `length`, the wide part reads on to so many tokens: that costs nearly
  // nothing.
  int64_t wide_length = 0;
  // A region part beside it: `region_units` units that look at `regions` tokens in a row; 0: none.
  // It is fitted, too (train/region_fit.h). Tokens from `region_rows` on are one to it.
  int64_t regions = 0;
  int64_t region_units = 1024;
  int64_t region_rows = 8000;
  double dropout = 0.1;
  double norm_eps = 1e-6;
  // At the start, times the usual: embeddings; queries and keys (a sharper phi); what a block adds
  // to its input (0: a block starts as the identity).
  double init_embed = 1;
  double init_qk = 1;
  double init_out = 1;
};

// The checked config; an Error names the field, e.g. "[config.heads] ...", with `place` (a path) in
// front if given.
ModelConfig config_from_json(const nlohmann::json& json, std::string_view place = "");
ModelConfig parse_config(std::string_view text, std::string_view place);
nlohmann::ordered_json config_to_json(const ModelConfig& config);
// A line on every setting, by its name.
std::map<std::string, std::string> config_help();

// "kernel", or "scan, then kernel".
std::string mixers_text(const ModelConfig& config);
// The mixer of block l, and the phi that it has: its own, or the config's.
const Mixer& mixer_of(const ModelConfig& config, int64_t l);
std::string phi_of(const ModelConfig& config, const Mixer& mixer);
// The hidden units of its feed-forward layer: the config's, or those that ffn_match gives.
int64_t hidden_of(const ModelConfig& config);

// Whether there is anything beside the deep part.
inline bool has_side_parts(const ModelConfig& config) {
  return config.wide > 0 || config.regions > 0;
}
// The most tokens of a text that any part reads.
inline int64_t read_length(const ModelConfig& config) {
  return config.wide > 0 ? std::max(config.length, config.wide_length) : config.length;
}
// The tokens that its region part tells apart.
int64_t region_rows_of(const ModelConfig& config);

// Throws what config_from_json would.
void check_config(const ModelConfig& config);

}  // namespace linnet
