// listops.h -- ListOps: nested MIN, MAX, MED and SM over digits, generated, evaluated, read,
// written.
//
// The task of the Long Range Arena (Tay et al., "Long Range Arena", ICLR 2021), after Nangia and
// Bowman, "ListOps", 2018. An expression is a digit, or an operator, its arguments and a closing
// bracket: "[MAX 2 9 [MIN 4 7 ] 0 ]" has 9 tokens and the value 9. The class is the value, 0 to 9.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace linnet {

// Token ids; the digits 0 to 9 are their own ids.
enum ListopsToken : uint16_t {
  kListopsMin = 10,
  kListopsMax = 11,
  kListopsMed = 12,  // integer part of the median
  kListopsSm = 13,   // sum modulo 10
  kListopsClose = 14,
  kListopsPadding = 15,
  kListopsUnknown = 16,
};
inline constexpr int kListopsOperators = 4;
inline bool is_listops_operator(uint16_t token) {
  return token >= kListopsMin && token <= kListopsSm;
}
inline constexpr int kListopsVocabulary = 17;
inline constexpr int kListopsClasses = 10;

// "7", "[MAX", "]", "<pad>", "<unk>"; an id outside the vocabulary is an Error.
std::string_view listops_token_text(int id);

// How trees are drawn; the defaults are those of LRA. A node at depth < max_depth (the root has
// depth 1) is an operator with operator_probability, else a digit; an operator has 2 to max_args
// arguments. A tree is kept when min_tokens < its tokens < max_tokens, both strict.
struct ListopsRule {
  int max_depth = 10;
  int max_args = 10;
  double operator_probability = 0.25;
  int min_tokens = 500;
  int max_tokens = 2000;
};

// Trees of 11 to 99 tokens for a first run of two minutes.
ListopsRule listops_short();

struct ListopsExample {
  std::vector<uint16_t> tokens;  // no parentheses; closing brackets are tokens
  int label;
};

// Distinct trees. The same arguments give the same rows always, and fewer rows are the beginning of
// more rows. An impossible rule, or one with too few distinct trees, is an Error.
std::vector<ListopsExample> make_listops(const ListopsRule& rule, uint64_t seed, int64_t rows);

struct ListopsSplits {
  std::vector<ListopsExample> train, val, test;
};

// No tree is in two splits. Test rows are drawn first, then val, then train: more training rows
// leave test and val as they are, so scores stay comparable.
ListopsSplits make_listops_splits(const ListopsRule& rule, uint64_t seed, int64_t train_rows,
                                  int64_t val_rows, int64_t test_rows);

// The value of exactly one expression. Anything else, padding included, is an Error with the place,
// e.g. "[listops token 17] ..."; the first token is 1.
int evaluate_listops(std::span<const uint16_t> tokens);

// Words between blanks, with or without LRA's parentheses, which are dropped like blanks; "7]" is
// two words. An unknown word is an Error with the place, e.g. "[listops column 5] ..."; the first
// column is 1. Whether the words make an expression is for evaluate_listops to say.
std::vector<uint16_t> parse_listops(std::string_view text);

// LRA's own form: a binary tree in parentheses, "( ( ( [MAX 2 ) 9 ) ] )" for "[MAX 2 9 ]". Tokens
// that are not one expression are an Error.
std::string listops_text(std::span<const uint16_t> tokens);

}  // namespace linnet
