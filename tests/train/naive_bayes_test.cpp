// naive_bayes_test.cpp -- ratios and regressions against numbers of another program
// (naive_bayes_golden.py), texts to classes, any number of threads.
#include "train/naive_bayes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "tests/data/reading.h"

namespace linnet {
namespace {

// The same rows as in naive_bayes_golden.py: a congruence that both can compute.
struct GoldenRows : NgramTexts {
  static constexpr int kRows = 150, kFeatures = 20, kClasses = 3;

  GoldenRows() {
    for (int i = 0; i < kRows; ++i) labels.push_back(static_cast<int>(draw(kClasses)));
    for (const int label : labels) {
      std::vector<uint32_t> features;
      for (uint32_t j = 0; j + 1 < kFeatures; ++j) {
        if (draw(j % kClasses == static_cast<uint32_t>(label) ? 2 : 4) == 0) features.push_back(j);
      }
      rows.add(features);
    }
    for (size_t i = 0; i < labels.size(); ++i) counts.add(rows.row(i), labels[i]);
  }
  std::vector<uint8_t> positive(int c) const {
    std::vector<uint8_t> result;
    for (const int label : labels) result.push_back(label == c);
    return result;
  }
  ClassCounts counts{kClasses, kFeatures};

 private:
  uint32_t draw(uint32_t n) {
    state_ = state_ * 1664525 + 1013904223;
    return (state_ >> 16) % n;
  }
  uint32_t state_ = 0;
};

template <class T>
double squares(const std::vector<T>& values) {
  double sum = 0;
  for (const T value : values) sum += double{value} * double{value};
  return sum;
}

TEST(NaiveBayesTest, GoldenRatios) {
  const GoldenRows golden;
  const double expected[][3] = {{1.011507118, -0.822811966, 7.637045157},
                                {-1.015246415, -0.354565036, 8.846272524},
                                {-0.196453060, 0.897704879, 8.131276052}};
  for (int c = 0; c < 3; ++c) {
    const std::vector<float> ratios = golden.counts.log_ratios(c, 1);
    EXPECT_NEAR(ratios[0], expected[c][0], 1e-6);
    EXPECT_NEAR(ratios[5], expected[c][1], 1e-6);
    EXPECT_EQ(ratios[19], 0);
    EXPECT_NEAR(squares(ratios), expected[c][2], 1e-5);
  }
}

TEST(NaiveBayesTest, RatiosOfSharesOfTheExamples) {
  ClassCounts counts(3, 4, RatioOf::examples);
  const uint32_t some[] = {0, 2}, one[] = {2};
  for (int i = 0; i < 5; ++i) counts.add(some, 1);
  for (int i = 0; i < 3; ++i) counts.add(one, 0);
  counts.add({}, 2);
  const std::vector<float> ratios = counts.log_ratios(1, 1);
  EXPECT_FLOAT_EQ(ratios[0], static_cast<float>(std::log((6.0 / 7) / (1.0 / 6))));
  EXPECT_FLOAT_EQ(ratios[2], static_cast<float>(std::log((6.0 / 7) / (4.0 / 6))));
  EXPECT_EQ(ratios[1], 0);  // never seen
}

TEST(NaiveBayesTest, GoldenRegressions) {
  const GoldenRows golden;
  struct Expected {
    int c;
    double strength, bias, u0, u5, squares;
  };
  for (const Expected& e :
       std::initializer_list<Expected>{{0, 0.1, -0.5147531, 0.4939757, -0.4128901, 1.0501559},
                                       {0, 2.0, -1.0850049, 1.4902084, -1.0389873, 10.4006695},
                                       {1, 0.1, -0.4671304, -0.5830383, -0.0647691, 1.7385702},
                                       {2, 2.0, -1.3057845, -0.0836622, 1.6277340, 14.1817333}}) {
    const LogisticModel model =
        fit_logistic(golden.rows, golden.positive(e.c), golden.counts.log_ratios(e.c, 1),
                     {.strength = e.strength, .tolerance = 1e-6, .passes = 10000});
    EXPECT_NEAR(model.bias, e.bias, 1e-4);
    EXPECT_NEAR(model.weights[0], e.u0, 1e-4);
    EXPECT_NEAR(model.weights[5], e.u5, 1e-4);
    EXPECT_NEAR(squares(model.weights), e.squares, 1e-3);
    EXPECT_EQ(model.weights[19], 0);
  }
}

TEST(NaiveBayesTest, ExtremeStrengthsStayFinite) {
  const GoldenRows golden;
  for (const double strength : {1e-9, 1e6}) {
    const LogisticModel model = fit_logistic(
        golden.rows, golden.positive(1), golden.counts.log_ratios(1, 1), {.strength = strength});
    EXPECT_TRUE(std::isfinite(model.bias) && std::isfinite(squares(model.weights)));
  }
}

TEST(NaiveBayesTest, ClassesByTheirOwnRegressions) {
  const GoldenRows golden;
  Context one(1), three(3);
  const NaiveBayes model(one, golden, golden.counts, 2.0);
  EXPECT_NEAR(model.accuracy(golden), 123.0 / 150, 2.0 / 150);  // the bench's looser tolerance
  const NaiveBayes again(three, golden, golden.counts, 2.0);
  for (size_t i = 0; i < golden.labels.size(); ++i)
    EXPECT_EQ(model.predict(golden.rows.row(i)), again.predict(golden.rows.row(i)));
}

class NaiveBayesFileTest : public FolderTest {};

TEST_F(NaiveBayesFileTest, TextsToClasses) {
  std::string csv = "text,label\n", kept = csv;
  for (int i = 0; i < 100; ++i) {
    const bool good = i % 2 == 0;
    (i < 80 ? csv : kept) += "\"not " + std::string(good ? "bad" : "good") + " and " +
                             (good ? "good" : "bad") + " " + std::to_string(i) + "\"," +
                             (good ? "pos" : "neg") + "\n";
  }
  write("train.csv", csv);
  write("kept.csv", kept);
  Context context(2);
  const LabelSet labels({"neg", "pos"});
  const WordNgrams rule{.longest = 2, .bits = 12};
  const NgramTexts train = read_ngrams(context, {.path = path("train.csv")}, labels, rule);
  const NgramTexts validation = read_ngrams(context, {.path = path("kept.csv")}, labels, rule);
  int tried = 0;
  const NaiveBayes model =
      fit_naive_bayes(context, train, validation, 2, rule, [&](double, double, bool) { ++tried; });
  EXPECT_EQ(model.accuracy(validation), 1);  // by the pairs: the words are the same in both
  EXPECT_EQ(tried, 4);
  EXPECT_EQ(model.strength(), 0.01);
  EXPECT_EQ(model.bytes(), 4 << 12);
}

TEST(NaiveBayesTest, RefittedIsFittedOnTheOtherTexts) {
  const GoldenRows golden;
  Context context(1);
  NgramTexts first, second;
  for (size_t i = 0; i < golden.labels.size(); ++i) {
    NgramTexts& part = i < 100 ? first : second;
    part.rows.add(golden.rows.row(i));
    part.labels.push_back(golden.labels[i]);
  }
  ClassCounts counts(GoldenRows::kClasses, GoldenRows::kFeatures);
  for (size_t i = 0; i < 100; ++i) counts.add(first.rows.row(i), first.labels[i]);
  const NaiveBayes of_first(context, first, counts, 2.0);
  first.add(second);
  const NaiveBayes of_both = of_first.refitted(context, first);
  const NaiveBayes expected(context, golden, golden.counts, 2.0);
  for (size_t c = 0; c < expected.models().size(); ++c) {
    EXPECT_EQ(of_both.models()[c].weights, expected.models()[c].weights);
    EXPECT_NE(of_first.models()[c].weights, expected.models()[c].weights);
  }
}

TEST_F(NaiveBayesFileTest, SeveralLabelsAreRefused) {
  write("many.csv", "text,label\nx y,a\nz,a;b\n");
  Context context(1);
  DataPart part{.path = path("many.csv")};
  part.read.label_separator = ";";
  try {
    read_ngrams(context, part, LabelSet({"a", "b"}), {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("many.csv:3:"), std::string::npos) << error.what();
  }
}

TEST(NaiveBayesTest, ManyClassesHaveSmallerTables) {
  EXPECT_EQ(ngram_rule(2).bits, 22);
  EXPECT_EQ(ngram_rule(16).bits, 22);
  EXPECT_EQ(ngram_rule(17).bits, 21);
  EXPECT_EQ(ngram_rule(1000).bits, 16);
}

}  // namespace
}  // namespace linnet
