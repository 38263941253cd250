// listops_ladder.cpp -- trees cut at a level, their stumps filled with likely digits.
#include "data/listops_ladder.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"
#include "core/random.h"

namespace linnet {
namespace {

constexpr int kSamples = 500;  // of a tree
constexpr int kLevels = 3;     // the lowest that a rung knows

using Shares = std::array<double, kListopsClasses>;

struct Cut {
  std::string_view knows;
  int levels;      // of lists that are known
  bool operators;  // of the subtrees below as well
};
constexpr Cut kCuts[] = {{"the root and all its digits", 1, false},
                         {"the same, and the operators below", 1, true},
                         {"all of levels 1 and 2", 2, false},
                         {"all of levels 1 to 3", 3, false}};

// The end of the expression that starts at `at`.
size_t end_of(std::span<const uint16_t> tokens, size_t at) {
  int open = 0;
  do {
    open += is_listops_operator(tokens[at]) - (tokens[at] == kListopsClose);
    ++at;
  } while (open > 0);
  return at;
}

// Calls visit(at, depth) for every operator down to depth kLevels + 1; the root's is 1.
template <class Visit>
void for_each_subtree(std::span<const uint16_t> tokens, const Visit& visit) {
  int depth = 0;
  for (size_t at = 0; at < tokens.size(); ++at) {
    depth -= tokens[at] == kListopsClose;
    if (!is_listops_operator(tokens[at])) continue;
    if (++depth <= kLevels + 1) visit(at, depth);
  }
}

// How values are spread over subtrees, by their depth and operator; the last operator is any.
struct Spread {
  std::array<std::array<Shares, kListopsOperators + 1>, kLevels + 2> counts{};

  explicit Spread(std::span<const ListopsExample> trees) {
    for (const ListopsExample& tree : trees) {
      for_each_subtree(tree.tokens, [&](size_t at, int depth) {
        const auto all = std::span(tree.tokens);
        const int value = evaluate_listops(all.subspan(at, end_of(all, at) - at));
        for (const int op : {tree.tokens[at] - kListopsMin, kListopsOperators})
          ++counts[static_cast<size_t>(depth)][static_cast<size_t>(op)][static_cast<size_t>(value)];
      });
    }
  }
  const Shares& of(int depth, int op) const {
    return counts[static_cast<size_t>(depth)][static_cast<size_t>(op)];
  }
};

double total_of(const Shares& shares) {
  double sum = 0;
  for (const double share : shares) sum += share;
  return sum;
}

uint16_t draw(const Shares& shares, double total, Random& random) {
  double left = random.uniform() * total;
  uint16_t digit = 0;
  while (digit + 1 < kListopsClasses && (left -= shares[digit]) >= 0) ++digit;
  return digit;
}

// Of one tree.
struct Guess {
  double hits = 0, loss = 0;
};

// Of the shares of the classes, with a little for each: a sample may miss a rare one.
Guess guess(const Shares& shares, int label, double little) {
  const auto best = std::ranges::max_element(shares) - shares.begin();
  const double p =
      (shares[static_cast<size_t>(label)] + little) / (total_of(shares) + little * kListopsClasses);
  return {best == label ? 1.0 : 0.0, -std::log(p)};
}

Guess guess_cut(const ListopsExample& tree, const Cut& cut, const Spread& spread, Random random) {
  struct Stump {
    size_t at;
    const Shares* shares;
    double total;
  };
  std::vector<uint16_t> top;
  std::vector<Stump> stumps;
  const auto all = std::span(tree.tokens);
  int depth = 0;
  for (size_t at = 0; at < all.size();) {
    if (is_listops_operator(all[at]) && depth == cut.levels) {
      const Shares& shares =
          spread.of(depth + 1, cut.operators ? all[at] - kListopsMin : kListopsOperators);
      stumps.push_back({top.size(), &shares, total_of(shares)});
      top.push_back(0);
      at = end_of(all, at);
      continue;
    }
    depth += is_listops_operator(all[at]) - (all[at] == kListopsClose);
    top.push_back(all[at++]);
  }
  Shares votes{};
  for (int sample = 0; sample < (stumps.empty() ? 1 : kSamples); ++sample) {
    for (const Stump& stump : stumps) top[stump.at] = draw(*stump.shares, stump.total, random);
    ++votes[static_cast<size_t>(evaluate_listops(top))];
  }
  return guess(votes, tree.label, 0.05);
}

}  // namespace

std::vector<LadderRung> listops_ladder(Context& context, std::span<const ListopsExample> trees,
                                       uint64_t seed) {
  std::vector<LadderRung> rungs;
  const auto add = [&](std::string_view knows, const auto& guess_of) {
    std::vector<Guess> guesses(trees.size());
    context.parallel(static_cast<int64_t>(trees.size()), [&](int64_t i, int) {
      guesses[static_cast<size_t>(i)] = guess_of(static_cast<size_t>(i));
    });
    LadderRung rung{.knows = knows};
    for (const Guess& g : guesses) rung.accuracy += g.hits, rung.loss += g.loss;
    rung.accuracy /= static_cast<double>(trees.size());
    rung.loss /= static_cast<double>(trees.size());
    rungs.push_back(rung);
  };
  if (trees.empty()) throw Error("[listops] there are no trees");
  Shares classes{};
  std::array<Shares, kListopsPadding> by_root{};  // a digit is a tree, too
  for (const ListopsExample& tree : trees) {
    ++classes[static_cast<size_t>(tree.label)];
    ++by_root[tree.tokens[0]][static_cast<size_t>(tree.label)];
  }
  add("nothing: the most frequent value",
      [&](size_t i) { return guess(classes, trees[i].label, 0); });
  add("the root's operator",
      [&](size_t i) { return guess(by_root[trees[i].tokens[0]], trees[i].label, 0); });
  const Spread spread(trees);
  for (const Cut& cut : kCuts) {
    add(cut.knows, [&](size_t i) {
      return guess_cut(trees[i], cut, spread,
                       Random(seed, i * std::size(kCuts) + static_cast<size_t>(&cut - kCuts)));
    });
  }
  LINNET_ASSERT(rungs.size() == kLadderRungs);
  return rungs;
}

}  // namespace linnet
