// mask.h -- tokens of a text hidden, to be told from those around them.
//
// As in BERT (Devlin et al. 2019): a share of the tokens are the targets; of these 80% become the
// mask, 10% any token, 10% stay as they are. As in SpanBERT (Joshi et al. 2020) they come in spans
// of geometric length, each treated as one: a single byte is nearly told by its two neighbours, so
// for bytes and characters little would be left to learn.
#pragma once

#include <cstdint>

#include "core/random.h"
#include "data/example.h"

namespace linnet {

struct Masking {
  double share = 0.15;     // of the tokens; at least one of a text
  double span = 3;         // mean length of what is hidden together; 1: token by token
  int32_t vocabulary = 0;  // of the tokenizer; the mask is the first id that it does not have
};

// An Error names the field, e.g. "[data.mask_share] ..."; a span of 0 is one that is chosen.
void check_masking(const char* group, double share, double span);

// Hides tokens of an example, whose targets become the hidden ones. What an earlier mask hid is
// seen again first, so that one example is masked anew as often as it is used.
void mask_tokens(const Masking& masking, Random& random, Example& example);

}  // namespace linnet
