// listops.cpp -- trees are token sequences throughout: drawn, checked and evaluated left to right.
//
// Cost, one core: a drawn node is one random word of 32 bits; LRA's rule draws 12 trees of 130
// tokens on average for each kept one of 1,040.
#include "data/listops.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <unordered_set>

#include "core/error.h"
#include "core/random.h"

namespace linnet {
namespace {

constexpr std::array<std::string_view, kListopsVocabulary> kText = {
    "0", "1",    "2",    "3",    "4",   "5", "6",     "7",    "8",
    "9", "[MIN", "[MAX", "[MED", "[SM", "]", "<pad>", "<unk>"};
// Keeps ListOps apart from whatever else is drawn from the same seed.
constexpr uint64_t kStream = 0x4C6973744F7073;  // "ListOps"
// So many trees in a row without a new row mean that there are none left to find (seconds).
constexpr int64_t kMaxFruitlessTrees = 10'000'000;

bool is_digit(uint16_t token) { return token < kListopsMin; }

[[noreturn]] void fail(size_t index, std::string_view what) {
  throw Error(fmt::format("[listops token {}] {}", index + 1, what));
}

// Throws unless the tokens are exactly one expression.
void check_expression(std::span<const uint16_t> tokens) {
  size_t open = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const uint16_t token = tokens[i];
    if (i > 0 && open == 0) fail(i, "the expression has ended but more tokens follow");
    if (is_listops_operator(token)) {
      ++open;
    } else if (token == kListopsClose) {
      if (open == 0) fail(i, "a closing bracket without an operator");
      if (is_listops_operator(tokens[i - 1])) fail(i, "an operator without arguments");
      --open;
    } else if (!is_digit(token)) {
      fail(i, fmt::format("id {} has no place in an expression", token));
    }
  }
  if (tokens.empty()) fail(0, "an empty expression has no value");
  if (open > 0) fail(tokens.size(), fmt::format("the end, with {} brackets still open", open));
}

// The arguments of an open operator, as how often each digit is among them: all that any of the
// four operators asks for.
struct Frame {
  uint16_t op;
  std::array<uint32_t, 10> counts{};
};

// The k-th smallest argument, k from 0.
int kth(const Frame& frame, uint32_t k) {
  int digit = 0;
  while (k >= frame.counts[digit]) k -= frame.counts[digit++];
  return digit;
}

int apply(const Frame& frame) {
  uint32_t arguments = 0, sum = 0;
  for (uint32_t digit = 0; digit < 10; ++digit) {
    arguments += frame.counts[digit];
    sum += digit * frame.counts[digit];
  }
  if (frame.op == kListopsMin) return kth(frame, 0);
  if (frame.op == kListopsMax) return kth(frame, arguments - 1);
  if (frame.op == kListopsSm) return static_cast<int>(sum % 10);
  return (kth(frame, (arguments - 1) / 2) + kth(frame, arguments / 2)) / 2;  // the middle two
}

// The value of a checked expression; the stack is scratch.
int value_of(std::span<const uint16_t> tokens, std::vector<Frame>& stack) {
  stack.clear();
  int value = 0;
  for (const uint16_t token : tokens) {
    if (is_listops_operator(token)) {
      stack.push_back({.op = token});
      continue;
    }
    value = token;
    if (token == kListopsClose) {
      value = apply(stack.back());
      stack.pop_back();
    }
    if (!stack.empty()) ++stack.back().counts[value];
  }
  return value;
}

// Equal rows always have equal hashes, so none passes twice. That a distinct one of 100,000 rows is
// lost has probability 3e-10, and would be no harm: another is drawn.
uint64_t hash_tokens(std::span<const uint16_t> tokens) {
  uint64_t hash = 0x9E3779B97F4A7C15 ^ tokens.size();
  for (size_t i = 0; i < tokens.size(); i += 4) {
    uint64_t word = 0;
    for (size_t j = i; j < std::min(i + 4, tokens.size()); ++j) word = word << 16 | tokens[j];
    hash = (hash ^ word) * 0xD6E8FEB86659FD93;
    hash ^= hash >> 32;
  }
  return hash;
}

// What one random word r decides about a node: an operator below the threshold, else a digit. The
// place of r within its side, stretched to 0 .. n-1, decides which one; the bias is below 2^-32 n
// over the share of the side, and a double has the bits to place 2^32 values exactly enough.
struct NodeLaw {
  uint64_t threshold;
  double operator_scale, digit_scale;

  NodeLaw(double probability, double operator_kinds)
      : threshold(static_cast<uint64_t>(std::llround(probability * 0x1p32))),
        operator_scale(operator_kinds / static_cast<double>(threshold)),
        digit_scale(10.0 / static_cast<double>((1ull << 32) - threshold)) {}
};

class TreeSource {
 public:
  TreeSource(const ListopsRule& rule, uint64_t seed)
      : rule_(rule),
        random_(seed, kStream),
        inner_(rule.operator_probability, kListopsOperators * (rule.max_args - 1.0)),
        deepest_(0.0, 0) {}

  // Draws one tree; empty when it is not to be kept. The span holds until the next call.
  //
  // An operator with n arguments turns one promised token into n + 2, so `length` is the least
  // that the tree will have, and at its end exactly what it has. A tree is left as soon as that
  // is too much: it would be thrown away in any case, and the words not drawn for it are as good
  // for the next tree, so the kept trees are distributed as if all had been drawn to the end.
  std::span<const uint16_t> next() {
    int64_t length = 1;
    int64_t left = 1;  // arguments that the innermost operator still misses; at first, the root
    size_t at = 0;
    outer_.clear();
    const NodeLaw* law = rule_.max_depth > 1 ? &inner_ : &deepest_;
    while (true) {
      const uint64_t r = random_.bits();
      if (r < law->threshold) {
        const auto kind = static_cast<int64_t>(static_cast<double>(r) * law->operator_scale);
        const int64_t arguments = 2 + kind / kListopsOperators;
        length += arguments + 1;
        if (length >= rule_.max_tokens) return {};
        if (static_cast<size_t>(length) > tokens_.size()) tokens_.resize(2 * length);
        tokens_[at++] = static_cast<uint16_t>(kListopsMin + kind % kListopsOperators);
        outer_.push_back(left);
        left = arguments;
        if (outer_.size() + 1 >= static_cast<size_t>(rule_.max_depth)) law = &deepest_;
        continue;
      }
      tokens_[at++] =
          static_cast<uint16_t>(static_cast<double>(r - law->threshold) * law->digit_scale);
      while (--left == 0) {
        if (outer_.empty()) {
          const bool keep = length > rule_.min_tokens && length < rule_.max_tokens;
          return {tokens_.data(), keep ? at : 0};
        }
        tokens_[at++] = kListopsClose;
        left = outer_.back();
        outer_.pop_back();
        law = &inner_;
      }
    }
  }

 private:
  ListopsRule rule_;
  Random random_;
  NodeLaw inner_, deepest_;
  std::vector<uint16_t> tokens_{0};
  std::vector<int64_t> outer_;  // `left` of the operators around the innermost one
};

void check_rule(const ListopsRule& rule, int64_t rows) {
  const auto need = [](bool good, std::string_view field, auto value, std::string_view what) {
    if (!good) throw Error(fmt::format("[listops.{}] must be {}: {}", field, what, value));
  };
  const double p = rule.operator_probability;
  need(rows >= 0, "rows", rows, "at least 0");
  need(rule.max_depth >= 1, "max_depth", rule.max_depth, "at least 1");
  need(rule.max_args >= 2, "max_args", rule.max_args, "at least 2");
  need(p >= 0 && p <= 1, "operator_probability", p, "from 0 to 1");
  need(rule.max_tokens - int64_t{1} > rule.min_tokens, "max_tokens", rule.max_tokens,
       "above min_tokens + 1, both bounds being strict");
}

}  // namespace

std::string_view listops_token_text(int id) {
  if (id < 0 || id >= kListopsVocabulary) {
    throw Error(fmt::format("[listops id {}] ids are 0 to {}", id, kListopsVocabulary - 1));
  }
  return kText[id];
}

ListopsRule listops_short() {
  // Beside the length only the depth differs from LRA, so a score means what it means there: the
  // most frequent class has 16%, the root operator alone gives 35%, more needs the nested values.
  // Three levels of operators fill the range: mean 41 tokens, sd 21; 5 trees are drawn for one.
  return {.max_depth = 4, .min_tokens = 10, .max_tokens = 100};
}

std::vector<ListopsExample> make_listops(const ListopsRule& rule, uint64_t seed, int64_t rows) {
  check_rule(rule, rows);
  TreeSource source(rule, seed);
  std::unordered_set<uint64_t> seen;
  std::vector<Frame> stack;
  std::vector<ListopsExample> examples;
  int64_t fruitless = 0;
  while (static_cast<int64_t>(examples.size()) < rows) {
    const std::span<const uint16_t> tokens = source.next();
    if (!tokens.empty() && seen.insert(hash_tokens(tokens)).second) {
      examples.push_back({{tokens.begin(), tokens.end()}, value_of(tokens, stack)});
      fruitless = 0;
    } else if (++fruitless == kMaxFruitlessTrees) {
      throw Error(fmt::format("[listops.rows] the rule has too few distinct trees: {} found of {}",
                              examples.size(), rows));
    }
  }
  return examples;
}

ListopsSplits make_listops_splits(const ListopsRule& rule, uint64_t seed, int64_t train_rows,
                                  int64_t val_rows, int64_t test_rows) {
  for (const int64_t rows : {train_rows, val_rows, test_rows}) check_rule(rule, rows);
  auto all = make_listops(rule, seed, train_rows + val_rows + test_rows);
  const auto val = std::make_move_iterator(all.begin() + test_rows);
  const auto train = val + val_rows;
  return {.train = {train, std::make_move_iterator(all.end())},
          .val = {val, train},
          .test = {std::make_move_iterator(all.begin()), val}};
}

int evaluate_listops(std::span<const uint16_t> tokens) {
  check_expression(tokens);
  std::vector<Frame> stack;
  return value_of(tokens, stack);
}

std::vector<uint16_t> parse_listops(std::string_view text) {
  constexpr std::string_view kEnds = "] \t\r\n()", kBlank = kEnds.substr(1);
  const std::span words(kText.data(), kListopsPadding);
  std::vector<uint16_t> tokens;
  size_t at = text.find_first_not_of(kBlank);
  while (at != text.npos) {
    const size_t end = text[at] == ']' ? at + 1 : text.find_first_of(kEnds, at);
    const std::string_view word = text.substr(at, end - at);
    const auto found = std::ranges::find(words, word);
    if (found == words.end()) {
      throw Error(fmt::format(
          "[listops column {}] unknown word '{}', not a digit, [MIN, [MAX, [MED, [SM or ]", at + 1,
          word.substr(0, 20)));
    }
    tokens.push_back(static_cast<uint16_t>(found - words.begin()));
    at = text.find_first_not_of(kBlank, end);
  }
  return tokens;
}

// LRA nests to the left, (((op a1) a2) ... ]): n + 1 opening parentheses before an operator with n
// arguments, a closing one after each argument and after the bracket.
std::string listops_text(std::span<const uint16_t> tokens) {
  check_expression(tokens);
  std::vector<size_t> open, arguments(tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] != kListopsClose && !open.empty()) ++arguments[open.back()];
    if (tokens[i] == kListopsClose) open.pop_back();
    if (is_listops_operator(tokens[i])) open.push_back(i);
  }
  std::string text;
  size_t depth = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0) text += ' ';
    if (is_listops_operator(tokens[i])) {
      for (size_t j = 0; j <= arguments[i]; ++j) text += "( ";
      ++depth;
    }
    text += kText[tokens[i]];
    if (is_listops_operator(tokens[i])) continue;
    if (depth > 0) text += " )";
    if (tokens[i] == kListopsClose && --depth > 0) text += " )";
  }
  return text;
}

}  // namespace linnet
