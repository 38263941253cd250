// side_part.h -- what the parts at the side of a model add to its logits.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "models/inference.h"

namespace linnet {

// [texts, classes]: the logits of the model, less those of its deep part with the same values.
inline std::vector<float> added_by_sides(const Model& model, const Block& values,
                                         const std::vector<std::vector<int32_t>>& texts) {
  ModelConfig config = model.config();
  config.wide = config.regions = 0;
  const Model deep(config);
  const std::vector<Tokens> sequences(texts.begin(), texts.end());
  Context context(2);
  const auto logits = [&](const Model& of, std::span<const Tokens> read) {
    Block own(of.layout().floats());  // parts at the side stand behind the deep one
    std::copy_n(values.data(), own.size(), own.data());
    return Inference(context, of, std::move(own)).logits(read);
  };
  std::vector<float> added = logits(model, sequences);
  std::vector<Tokens> near;  // all that the deep part may read
  for (const Tokens& tokens : sequences)
    near.push_back(tokens.first(std::min(tokens.size(), static_cast<size_t>(config.length))));
  const std::vector<float> without = logits(deep, near);
  for (size_t i = 0; i < added.size(); ++i) added[i] -= without[i];
  return added;
}

}  // namespace linnet
