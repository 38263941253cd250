// evaluation_test.cpp -- predictions are those of the logits, and no cut into spans changes them.
#include "train/evaluation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/train/small_run.h"

namespace linnet {
namespace {

// All at once and in spans of seven.
void expect_spans_change_nothing(const ModelConfig& config, const std::vector<Example>& rows) {
  Context context(2);
  const Model model(config);
  const Block values = Parameters::initial(model, 7);
  Evaluation whole(context, model, values.data()), parts(context, model, values.data());
  const Predictions all = whole.add(rows);
  Predictions joined;
  for (size_t at = 0; at < rows.size(); at += 7) {
    const Predictions part =
        parts.add(std::span(rows).subspan(at, std::min<size_t>(7, rows.size() - at)));
    joined.probabilities.insert(joined.probabilities.end(), part.probabilities.begin(),
                                part.probabilities.end());
    joined.classes.insert(joined.classes.end(), part.classes.begin(), part.classes.end());
  }
  EXPECT_EQ(all.probabilities, joined.probabilities);
  EXPECT_EQ(all.classes, joined.classes);
  EXPECT_EQ(whole.result().loss, parts.result().loss);
  EXPECT_EQ(whole.result().accuracy, parts.result().accuracy);
  EXPECT_EQ(whole.result().tokens, parts.result().tokens);
  EXPECT_EQ(evaluate(context, model, values.data(), rows).loss, whole.result().loss);
}

TEST(EvaluationTest, OneLabel) {
  const std::vector<Example> rows = listops_rows(30);
  const ModelConfig config = small_config("kernel");
  expect_spans_change_nothing(config, rows);
  Context context(1);
  const Model model(config);
  const Block values = Parameters::initial(model, 7);
  Evaluation evaluation(context, model, values.data());
  const Predictions said = evaluation.add(rows);
  double nats = 0, hits = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const float* p = said.probabilities.data() + i * kListopsClasses;
    double sum = 0;
    for (size_t c = 0; c < kListopsClasses; ++c) sum += p[c];
    EXPECT_NEAR(sum, 1, 1e-6);
    EXPECT_EQ(said.classes[i], std::max_element(p, p + kListopsClasses) - p);
    nats -= std::log(p[rows[i].label]);
    hits += said.classes[i] == rows[i].label;
  }
  EXPECT_NEAR(evaluation.total().loss, nats, 1e-4);
  EXPECT_DOUBLE_EQ(evaluation.result().accuracy, hits / 30);
}

TEST(EvaluationTest, ManyLabels) {
  std::vector<Example> rows = listops_rows(30);
  for (size_t i = 0; i < rows.size(); ++i) rows[i].targets.assign(i % 3, static_cast<int>(i) % 10);
  ModelConfig config = small_config("kernel");
  config.loss = "sigmoid";
  expect_spans_change_nothing(config, rows);
  Context context(1);
  const Model model(config);
  const Block values = Parameters::initial(model, 7);
  Evaluation evaluation(context, model, values.data());
  const Predictions said = evaluation.add(rows);
  double nats = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    for (int c = 0; c < kListopsClasses; ++c) {
      const double p = said.probabilities[i * kListopsClasses + static_cast<size_t>(c)];
      const bool truth = !rows[i].targets.empty() && rows[i].targets[0] == c;
      nats -= std::log(truth ? p : 1 - p) / kListopsClasses;
    }
  }
  EXPECT_NEAR(evaluation.total().loss, nats, 1e-4);
}

TEST(EvaluationTest, Tokens) {
  std::vector<Example> rows = listops_rows(30);
  for (Example& row : rows) {
    row.targets.assign(row.tokens.begin(), row.tokens.end());
    for (int32_t& target : row.targets) target = target % 11 - 1;
  }
  ModelConfig config = small_config("kernel");
  config.task = "tokens";
  config.pool = "none";
  expect_spans_change_nothing(config, rows);
  Context context(1);
  const Model model(config);
  const Block values = Parameters::initial(model, 7);
  Evaluation evaluation(context, model, values.data());
  const Predictions said = evaluation.add(rows);
  EXPECT_TRUE(said.probabilities.empty());
  double hits = 0, count = 0;
  size_t at = 0;
  for (const Example& row : rows) {
    for (const int32_t target : row.targets) {
      hits += target >= 0 && target == said.classes[at];
      ++at;
      count += target >= 0;
    }
  }
  EXPECT_EQ(at, said.classes.size());
  EXPECT_DOUBLE_EQ(evaluation.result().accuracy, hits / count);
}

}  // namespace
}  // namespace linnet
