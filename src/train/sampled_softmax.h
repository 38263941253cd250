// sampled_softmax.h -- the softmax loss of tokens over some classes of a large vocabulary.
//
// The sum Z = sum_c exp(z_c) over all V classes is estimated from a few: the set T of the targets
// of the example, each with certainty, and N others drawn without replacement, so each with the
// probability q = N / (V - |T|). With the logarithm of this expected count taken off,
//   Z' = sum_{c in T} exp(z_c) + sum_{c drawn} exp(z_c - log q),   E Z' = Z,
//   loss = log Z' - z_y,   dz = softmax(z - log q) - onehot(y) over the same few.
// Targets are as frequent as tokens are, so the frequent classes, which weigh most, are mostly
// in T. With all V - |T| others it is the whole softmax.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "train/loss.h"

namespace linnet {

struct SampledClasses {
  std::vector<int32_t> classes = {};  // ascending; none: all
  std::vector<float> shift = {};      // -log q of those that were drawn, 0 of targets
};

// Of an example, from the key alone; all where there are no more than that.
SampledClasses sample_classes(std::span<const int32_t> targets, int64_t classes, int64_t drawn,
                              uint64_t key);

// For rows of logits of the classes, in place: they become their gradient. Every target is one of
// the classes. A hit is the largest among these few.
Score sampled_cross_entropy(const SampledClasses& sampled, std::span<const int32_t> targets,
                            Mat logits);

}  // namespace linnet
