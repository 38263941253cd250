// phi_text.h -- reads a phi from its short text, e.g. "softplus", "2xoglu", "linear>norm>softplus".
//
//   phi   = stage { ">" stage }
//   stage = [ count "x" ] name [ ":" option { "," option } ]      option = name "=" number
// Options: f = features a head, r = rank, redraw = steps between draws of a random projection.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "features/feature.h"

namespace linnet {

struct PhiStage {
  const Feature* kind = nullptr;
  int64_t features = 0, rank = 0, redraw = 0;  // 0: not given
  std::string place;                           // for errors: "[config.phi, character 7]"
};

// The stages, 2x... as two. An Error names the character where the text stops making sense, or the
// last stage if its values are no features.
std::vector<PhiStage> parse_phi(std::string_view text);

}  // namespace linnet
