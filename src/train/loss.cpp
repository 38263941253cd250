// loss.cpp -- softmax cross-entropy: of an example in double, a handful of numbers; of tokens by
// the kernel, since a vocabulary may be large.
#include "train/loss.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/rows.h"
#include "kernels/softmax.h"

namespace linnet {

double cross_entropy(std::span<const float> logits, int label, std::span<float> dlogits) {
  const double top = *std::max_element(logits.begin(), logits.end());
  double total = 0;
  for (float x : logits) total += std::exp(x - top);
  const double lse = top + std::log(total);
  for (size_t i = 0; i < logits.size(); ++i) {
    dlogits[i] =
        static_cast<float>(std::exp(logits[i] - lse) - (static_cast<int>(i) == label ? 1 : 0));
  }
  return lse - logits[static_cast<size_t>(label)];
}

Score token_cross_entropy(int64_t rows, int64_t classes, const int32_t* targets, Mat logits) {
  Score score;
  for (int64_t r = 0; r < rows; ++r) {
    const Mat row = logits.rows(r);
    if (targets[r] < 0) {
      std::fill_n(row.data, classes, 0.0f);
      continue;
    }
    const float wanted = row.data[targets[r]];
    float top = -std::numeric_limits<float>::infinity(), total = 0, unused;
    softmax_tile(1, classes, row, &top, &total, &unused);
    score.loss += static_cast<double>(top) + std::log(static_cast<double>(total)) - wanted;
    score.hits += wanted >= top;
    ++score.count;
    scale(classes, 1 / total, row.data);
    row.data[targets[r]] -= 1;
  }
  return score;
}

int best_class(std::span<const float> logits) {
  return static_cast<int>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

}  // namespace linnet
