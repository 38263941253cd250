// side_part.h -- what the parts at the side of a model add to its logits.
#pragma once

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
  const auto logits = [&](const Model& of) {
    Block own(of.layout().floats());  // parts at the side stand behind the deep one
    std::copy_n(values.data(), own.size(), own.data());
    return Inference(context, of, std::move(own)).logits(sequences);
  };
  std::vector<float> added = logits(model);
  const std::vector<float> without = logits(deep);
  for (size_t i = 0; i < added.size(); ++i) added[i] -= without[i];
  return added;
}

}  // namespace linnet
