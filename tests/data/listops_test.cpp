// listops_test.cpp -- ListOps: values by hand, malformed input, generated trees, LRA's own sample.
#include "data/listops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "data/byte_source.h"

namespace linnet {
namespace {

// The message of the Error that the call throws; empty when it throws none.
template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

int value(std::string_view text) { return evaluate_listops(parse_listops(text)); }

// An evaluator written apart from the library's: recursive, with sorted arguments.
int naive_value(const std::vector<uint16_t>& tokens, size_t& at) {
  const uint16_t op = tokens[at++];
  if (op < kListopsMin) return op;
  std::vector<int> arguments;
  while (tokens[at] != kListopsClose) arguments.push_back(naive_value(tokens, at));
  ++at;
  std::sort(arguments.begin(), arguments.end());
  const size_t n = arguments.size();
  int sum = 0;
  for (const int argument : arguments) sum += argument;
  if (op == kListopsMin) return arguments.front();
  if (op == kListopsMax) return arguments.back();
  if (op == kListopsSm) return sum % 10;
  return n % 2 == 1 ? arguments[n / 2] : (arguments[n / 2 - 1] + arguments[n / 2]) / 2;
}

TEST(Listops, ValuesByHand) {
  const std::vector<std::pair<std::string, int>> table = {
      {"7", 7},
      {"[MIN 4 2 9 ]", 2},
      {"[MAX 4 2 9 ]", 9},
      {"[MAX 0 0 ]", 0},
      {"[SM 4 2 9 ]", 5},
      {"[SM 5 5 ]", 0},
      {"[SM 9 9 9 9 9 9 9 9 9 9 ]", 0},
      {"[MED 9 1 5 ]", 5},
      {"[MED 1 2 ]", 1},
      {"[MED 0 9 ]", 4},
      {"[MED 8 2 4 3 ]", 3},
      {"[MED 0 0 9 9 ]", 4},
      {"[MED 6 6 1 ]", 6},
      {"[MIN 3 ]", 3},
      {"[MAX 2 9 [MIN 4 7 ] 0 ]", 9},
      {"[MIN 5 [MAX 2 [SM 9 9 ] ] [MED 7 8 ] ]", 5},
      {"[SM [SM [SM 9 9 ] 9 ] 9 ]", 6},
      {"[MED [MIN 8 9 ] [MAX 0 1 ] [SM 6 7 ] [MED 4 4 ] ]", 3},
  };
  for (const auto& [text, expected] : table) EXPECT_EQ(value(text), expected) << text;
}

TEST(Listops, MalformedTokensAreErrorsWithTheirPlace) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"", "[listops token 1] "},
      {"( )", "[listops token 1] "},
      {"]", "[listops token 1] "},
      {"] 1", "[listops token 1] "},
      {"[MAX", "[listops token 2] "},
      {"[MAX 1 2", "[listops token 4] "},
      {"[MAX 1 [MIN 2 3 ]", "[listops token 7] "},
      {"[MAX ]", "[listops token 2] "},
      {"[MAX 1 [SM ] ]", "[listops token 4] "},
      {"1 2", "[listops token 2] "},
      {"1 ]", "[listops token 2] "},
      {"[MAX 1 2 ] 3", "[listops token 5] "},
      {"[MAX 1 2 ] ]", "[listops token 5] "},
  };
  for (const auto& [text, place] : table) {
    const std::vector<uint16_t> tokens = parse_listops(text);
    const std::string evaluated = error_of([&] { evaluate_listops(tokens); });
    EXPECT_EQ(evaluated.substr(0, place.size()), place) << "'" << text << "': " << evaluated;
    EXPECT_EQ(error_of([&] { listops_text(tokens); }), evaluated) << text;
  }
  for (const uint16_t id : {uint16_t{kListopsPadding}, uint16_t{kListopsUnknown}, uint16_t{999}}) {
    const std::vector<uint16_t> tokens = {kListopsMax, 1, id, kListopsClose};
    EXPECT_EQ(error_of([&] { evaluate_listops(tokens); }).substr(0, 18), "[listops token 3] ")
        << id;
  }
}

TEST(Listops, UnknownWordsAreErrorsWithTheirColumn) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"[FIRST 1 2 ]", "[listops column 1] "},   {"[MAX 1 12 ]", "[listops column 8] "},
      {"  [ MAX 1 ]", "[listops column 3] "},    {"( [max 1 ) ]", "[listops column 3] "},
      {"[MAX 1 2 ] -3", "[listops column 12] "}, {"[MAX 1 <pad> ]", "[listops column 8] "},
  };
  for (const auto& [text, place] : table) {
    const std::string message = error_of([&text = text] { parse_listops(text); });
    EXPECT_EQ(message.substr(0, place.size()), place) << "'" << text << "': " << message;
  }
}

TEST(Listops, VocabularyHasSeventeenTexts) {
  std::set<std::string_view> texts;
  for (int id = 0; id < kListopsVocabulary; ++id) texts.insert(listops_token_text(id));
  EXPECT_EQ(texts.size(), 17u);
  EXPECT_EQ(listops_token_text(7), "7");
  EXPECT_EQ(listops_token_text(kListopsMed), "[MED");
  EXPECT_EQ(listops_token_text(kListopsClose), "]");
  EXPECT_THROW(listops_token_text(-1), Error);
  EXPECT_THROW(listops_token_text(17), Error);
}

TEST(Listops, ParsesWithAndWithoutParentheses) {
  const std::vector<uint16_t> tokens = {kListopsMax,  2, kListopsMin, 4, 7, kListopsClose,
                                        kListopsClose};
  EXPECT_EQ(parse_listops("[MAX 2 [MIN 4 7 ] ]"), tokens);
  EXPECT_EQ(parse_listops("[MAX 2 [MIN 4 7]]"), tokens);
  EXPECT_EQ(parse_listops("\t[MAX  2 [MIN 4 7 ] ]\r\n"), tokens);
  const std::string lra = "( ( ( [MAX 2 ) ( ( ( [MIN 4 ) 7 ) ] ) ) ] )";
  EXPECT_EQ(parse_listops(lra), tokens);
  EXPECT_EQ(listops_text(tokens), lra);
  EXPECT_EQ(listops_text(std::vector<uint16_t>{5}), "5");
}

TEST(Listops, RowsKeepTheRuleAndLabelsAgreeWithTwoEvaluators) {
  for (const ListopsRule& rule : {ListopsRule{}, listops_short()}) {
    std::set<std::vector<uint16_t>> distinct;
    const auto rows = make_listops(rule, 11, 500);
    ASSERT_EQ(rows.size(), 500u);
    for (const ListopsExample& row : rows) {
      EXPECT_GT(static_cast<int>(row.tokens.size()), rule.min_tokens);
      EXPECT_LT(static_cast<int>(row.tokens.size()), rule.max_tokens);
      EXPECT_EQ(evaluate_listops(row.tokens), row.label);
      size_t at = 0;
      EXPECT_EQ(naive_value(row.tokens, at), row.label);
      EXPECT_EQ(parse_listops(listops_text(row.tokens)), row.tokens);
      distinct.insert(row.tokens);
    }
    EXPECT_EQ(distinct.size(), rows.size());
  }
}

TEST(Listops, SmallRuleGivesEveryTreeOnceThenAnError) {
  // 4 operators on 2 digits: 400 trees of 4 tokens.
  const ListopsRule rule = {.max_depth = 2, .max_args = 2, .min_tokens = 1, .max_tokens = 5};
  std::set<std::vector<uint16_t>> distinct;
  for (const ListopsExample& row : make_listops(rule, 3, 400)) distinct.insert(row.tokens);
  EXPECT_EQ(distinct.size(), 400u);
  EXPECT_EQ(error_of([&] { make_listops(rule, 3, 401); }).substr(0, 15), "[listops.rows] ");
}

TEST(Listops, ImpossibleRulesAreErrors) {
  const auto message = [](const ListopsRule& rule, int64_t rows = 1) {
    const std::string text = error_of([&] { make_listops(rule, 1, rows); });
    return text.substr(0, text.find(']') + 1);
  };
  EXPECT_EQ(message({}, -1), "[listops.rows]");
  EXPECT_EQ(message({.max_depth = 0}), "[listops.max_depth]");
  EXPECT_EQ(message({.max_args = 1}), "[listops.max_args]");
  EXPECT_EQ(message({.operator_probability = 1.5}), "[listops.operator_probability]");
  EXPECT_EQ(message({.operator_probability = std::nan("")}), "[listops.operator_probability]");
  EXPECT_EQ(message({.min_tokens = 10, .max_tokens = 11}), "[listops.max_tokens]");
  EXPECT_EQ(message({.operator_probability = 0.0}), "[listops.rows]");
}

TEST(Listops, OperatorsAloneFillADepth) {
  // Probability 1: two levels of operators, digits only at the third.
  const ListopsRule rule = {
      .max_depth = 3, .max_args = 2, .operator_probability = 1, .min_tokens = 0, .max_tokens = 11};
  for (const ListopsExample& row : make_listops(rule, 5, 100)) EXPECT_EQ(row.tokens.size(), 10u);
}

bool same(const ListopsExample& a, const ListopsExample& b) {
  return a.tokens == b.tokens && a.label == b.label;
}

TEST(Listops, SameSeedSameRowsAndFewerRowsAreThePrefix) {
  const auto many = make_listops(listops_short(), 7, 300);
  const auto few = make_listops(listops_short(), 7, 100);
  const auto other = make_listops(listops_short(), 8, 100);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin(), same));
  EXPECT_FALSE(std::equal(few.begin(), few.end(), other.begin(), same));
  // Stored once: rows must not change between machines and releases.
  std::string labels;
  size_t tokens = 0;
  for (const ListopsExample& row : few) labels += static_cast<char>('0' + row.label);
  for (const ListopsExample& row : few) tokens += row.tokens.size();
  EXPECT_EQ(labels.substr(0, 50), "94425799471922513914080311201313687091193289690926");
  EXPECT_EQ(tokens, 4452u);
}

TEST(Listops, SplitsAreDistinctAndTestStaysWhenTrainGrows) {
  const ListopsSplits splits = make_listops_splits(listops_short(), 7, 400, 50, 60);
  EXPECT_EQ(splits.train.size(), 400u);
  EXPECT_EQ(splits.val.size(), 50u);
  EXPECT_EQ(splits.test.size(), 60u);
  std::set<std::vector<uint16_t>> distinct;
  for (const auto* part : {&splits.train, &splits.val, &splits.test}) {
    for (const ListopsExample& row : *part) distinct.insert(row.tokens);
  }
  EXPECT_EQ(distinct.size(), 510u);
  const ListopsSplits larger = make_listops_splits(listops_short(), 7, 800, 50, 60);
  EXPECT_TRUE(std::equal(splits.test.begin(), splits.test.end(), larger.test.begin(), same));
  EXPECT_TRUE(std::equal(splits.val.begin(), splits.val.end(), larger.val.begin(), same));
  EXPECT_TRUE(std::equal(splits.train.begin(), splits.train.end(), larger.train.begin(), same));
  EXPECT_THROW(make_listops_splits(listops_short(), 7, 10, -1, 5), Error);
}

// Shares of labels, and of token ids among their kind (digits, operators).
struct Shares {
  std::array<double, 10> label{}, digit{};
  std::array<double, 4> op{};
  double tokens = 0;  // mean
};

Shares shares_of(const std::vector<ListopsExample>& rows) {
  Shares shares;
  std::array<double, kListopsVocabulary> counts{};
  for (const ListopsExample& row : rows) {
    shares.label[row.label] += 1.0 / static_cast<double>(rows.size());
    shares.tokens += static_cast<double>(row.tokens.size()) / static_cast<double>(rows.size());
    for (const uint16_t token : row.tokens) ++counts[token];
  }
  double digits = 0;
  for (int i = 0; i < 10; ++i) digits += counts[i];
  for (int i = 0; i < 10; ++i) shares.digit[i] = counts[i] / digits;
  for (int i = 0; i < 4; ++i) shares.op[i] = counts[kListopsMin + i] / counts[kListopsClose];
  return shares;
}

TEST(Listops, StatisticsAreThoseOfLra) {
  const Shares shares = shares_of(make_listops({}, 1234, 3000));
  // The mean is exact, from the distribution of lengths; the labels are from 160,000 rows of LRA's
  // rule in Python. Bounds: four standard errors of 3,000 rows and more.
  const std::array<double, 10> labels = {.171, .090, .078, .084, .089,
                                         .086, .076, .071, .086, .168};
  EXPECT_NEAR(shares.tokens, 1035.0, 30.0);
  for (int i = 0; i < 10; ++i) EXPECT_NEAR(shares.label[i], labels[i], 0.028) << i;
  for (int i = 0; i < 10; ++i) EXPECT_NEAR(shares.digit[i], 0.1, 0.001) << i;
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(shares.op[i], 0.25, 0.003) << i;
}

TEST(Listops, ShortLabelsAreNotDegenerate) {
  const Shares shares = shares_of(make_listops(listops_short(), 1234, 10000));
  EXPECT_NEAR(shares.tokens, 40.6, 1.0);
  for (int i = 0; i < 10; ++i) {
    EXPECT_GT(shares.label[i], 0.06) << i;
    EXPECT_LT(shares.label[i], 0.18) << i;
  }
}

TEST(Listops, AgreesWithTheSampleOfLra) {
  const char* folder = std::getenv("LINNET_DATA");
  if (folder == nullptr) GTEST_SKIP() << "LINNET_DATA is not set: no sample of LRA to read";
  const auto file = std::filesystem::path(folder) / "listops_ref" / "basic_sample.tsv.xz";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is absent";
  const std::string text = read_all(*open_bytes(file.string()), 1 << 26, "sample");
  size_t at = text.find('\n') + 1, rows = 0;
  ASSERT_EQ(text.substr(0, at), "Source\tTarget\r\n");
  for (; at < text.size(); ++rows) {
    const size_t tab = text.find('\t', at), end = text.find('\n', at);
    ASSERT_LT(tab, end);
    const std::string source = text.substr(at, tab - at);
    const std::vector<uint16_t> tokens = parse_listops(source);
    ASSERT_EQ(evaluate_listops(tokens), std::stoi(text.substr(tab + 1, end - tab))) << rows;
    ASSERT_EQ(listops_text(tokens), source) << rows;
    at = end + 1;
  }
  EXPECT_EQ(rows, 4000u);
}

}  // namespace
}  // namespace linnet
