// mask.cpp -- draws spans and hides them.
#include "data/mask.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace linnet {
namespace {

constexpr double kLongest = 4;  // times the mean: a geometric length has no end

int64_t span_length(double mean, Random& random) {
  if (mean <= 1) return 1;
  // P(n) = p (1 - p)^(n-1) with the mean 1 / p, by the inverse of its sum.
  const double n = std::floor(std::log1p(-random.uniform()) / std::log1p(-1 / mean)) + 1;
  return static_cast<int64_t>(std::min(n, std::ceil(kLongest * mean)));
}

}  // namespace

void check_masking(const char* group, double share, double span) {
  if (!(share > 0 && share <= 0.9)) {
    throw Error(
        fmt::format("[{}.mask_share] must be above 0 and at most 0.9, not {}", group, share));
  }
  if (span != 0 && !(span >= 1 && span <= 100)) {
    throw Error(fmt::format("[{}.mask_span] must be 1 to 100 tokens or 0, not {}", group, span));
  }
}

void mask_tokens(const Masking& masking, Random& random, Example& example) {
  std::vector<int32_t>& tokens = example.tokens;
  std::vector<int32_t>& targets = example.targets;
  for (size_t t = 0; t < targets.size(); ++t) {
    if (targets[t] >= 0) tokens[t] = targets[t];
  }
  targets.assign(tokens.size(), -1);
  const auto T = static_cast<int64_t>(tokens.size());
  // Rounded at random: of short texts the mean share is right, too.
  const double wanted = masking.share * static_cast<double>(T) + random.uniform();
  int64_t left = std::clamp<int64_t>(static_cast<int64_t>(wanted), 1, T);
  while (left > 0) {
    const int64_t first = random.below(static_cast<uint32_t>(T)),
                  end = std::min({T, first + span_length(masking.span, random), first + left});
    const double fate = random.uniform();
    for (int64_t t = first; t < end; ++t) {
      const auto at = static_cast<size_t>(t);
      if (targets[at] >= 0) continue;
      targets[at] = tokens[at];
      --left;
      if (fate < 0.8) tokens[at] = masking.vocabulary;
      if (fate >= 0.9)
        tokens[at] = static_cast<int32_t>(random.below(static_cast<uint32_t>(masking.vocabulary)));
    }
  }
}

}  // namespace linnet
