// model.h -- a config turned into layers over one parameter block: sequence classifier, two-tower
// matcher, classifier of tokens.
//
// x_0 = CLS, x_t = embedding of token t + position t + those of its n-grams; L blocks; final
// LayerNorm; one vector a sequence (CLS, mean or last token; `bag`: beside it LN(mean_t x_t) of the
// tokens as they were before the blocks); head: Linear, GELU, Linear (match:
// both vectors side by side, three Linears; tokens: one Linear on every row). At inference the
// parts at the side, wide and regions, are added to the logits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "core/arena.h"
#include "core/context.h"
#include "models/block.h"
#include "models/config.h"
#include "models/ngram_table.h"
#include "models/region_table.h"
#include "models/wide_table.h"

namespace linnet {

using Tokens = std::span<const int32_t>;

class Model {
 public:
  explicit Model(const ModelConfig& config);

  const ModelConfig& config() const { return config_; }
  const ParamLayout& layout() const { return layout_; }
  const std::vector<BlockPlan>& blocks() const { return blocks_; }
  const LayerNorm& final_norm() const { return final_norm_; }
  const LayerNorm& bag_norm() const { return bag_norm_; }
  const std::vector<Linear>& head() const { return head_; }
  int64_t embedding() const { return embedding_; }
  int64_t cls() const { return cls_; }              // -1 without
  int64_t positions() const { return positions_; }  // -1 without
  const NgramTable& ngrams() const { return ngrams_; }
  const WideTable& wide() const { return wide_; }
  const RegionTable& regions() const { return regions_; }

  bool of_tokens() const { return config_.task == "tokens"; }
  bool many_labels() const { return config_.loss == "sigmoid"; }
  // Of what the head sees of one sequence.
  int64_t vector_width() const { return (config_.bag ? 2 : 1) * config_.width; }
  int64_t sequences() const { return config_.task == "match" ? 2 : 1; }  // of one example
  // Rows that the blocks see for a sequence of T tokens.
  int64_t rows(int64_t T) const { return T + (cls_ >= 0 ? 1 : 0); }
  // What all but the wide part reads of a text.
  Tokens deep(Tokens tokens) const;
  // An Error unless 1 <= T <= length (learned positions) and every token is in the vocabulary.
  void check(Tokens tokens) const;
  // Multiplications and additions of a forward pass over T tokens; folded: as inference does it.
  double forward_flops(int64_t T, bool folded) const;

 private:
  ModelConfig config_;
  ParamLayout layout_;
  std::vector<BlockPlan> blocks_;
  LayerNorm final_norm_, bag_norm_;
  std::vector<Linear> head_;
  int64_t embedding_ = 0, cls_ = -1, positions_ = -1;
  NgramTable ngrams_;
  WideTable wide_;
  RegionTable regions_;
};

// The values of a model's parameters, plain and packed.
class Parameters {
 public:
  // training: panels of the transposes too. Else phi's first product is folded into the projections
  // where it can be; values() are then no longer those of the file.
  Parameters(Context& context, const Model& model, Block values, bool training);
  static Block initial(const Model& model, uint64_t seed);

  float* values() { return values_.data(); }
  const float* values() const { return values_.data(); }
  // After values() changed.
  void pack(Context& context, const Model& model);
  Weights weights() const;

 private:
  void fold(const Model& model);
  Block values_, packed_, packed_transposed_;
};

// What one thread works in.
struct Workspace {
  Arena keep, scratch;
};

}  // namespace linnet
