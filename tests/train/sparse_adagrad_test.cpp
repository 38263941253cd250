// sparse_adagrad_test.cpp -- the step is that of a plain loop over a dense gradient, on any number
// of threads; and the trainer takes it.
#include "train/sparse_adagrad.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/random.h"
#include "tests/train/small_run.h"
#include "train/trainer.h"

namespace linnet {
namespace {

constexpr int64_t kWidth = 13, kOffset = 16;  // of the table in the parameter block

struct Sequence {
  std::vector<int32_t> tokens;
  std::vector<float> dx;
};

std::vector<Sequence> random_sequences(uint64_t seed) {
  Random random(seed);
  std::vector<Sequence> sequences;
  for (const int64_t T : {40, 1, 2, 77, 3}) {
    Sequence& s = sequences.emplace_back();
    for (int64_t t = 0; t < T; ++t) s.tokens.push_back(static_cast<int32_t>(random.below(6)));
    for (int64_t i = 0; i < T * kWidth; ++i)
      s.dx.push_back(static_cast<float>(random.normal() * (i % 3 == 0 ? 1e-4 : 1)));
  }
  return sequences;
}

void keep(const std::vector<Sequence>& sequences, SparseAdagrad& sparse) {
  const size_t first = sparse.expect(sequences.size());
  for (size_t i = sequences.size(); i-- > 0;)  // any order will do
    sparse.keep(first + i, sequences[i].tokens, {sequences[i].dx.data(), kWidth});
}

NgramTable table_of(int64_t buckets) {
  return {.longest = 4, .buckets = buckets, .width = kWidth, .weight = kOffset};
}

// Values and accumulators after two steps of two batches each.
struct Result {
  std::vector<float> values, squares;
  bool operator==(const Result&) const = default;
};

Result two_steps(int64_t buckets, int threads) {
  Context context(threads);
  SparseAdagrad sparse(table_of(buckets));
  Result result;
  result.values.assign(static_cast<size_t>(kOffset + buckets * kWidth + 5), 0.5f);
  for (uint64_t step = 1; step <= 2; ++step) {
    keep(random_sequences(2 * step), sparse);
    keep(random_sequences(2 * step + 1), sparse);
    sparse.step(context, 0.05f * static_cast<float>(step), 0.25f, result.values.data());
  }
  const Block& squares = sparse.accumulators();
  result.squares.assign(squares.data(), squares.data() + buckets);
  return result;
}

// The same in double, over a gradient [buckets, width].
std::vector<double> plain_steps(int64_t buckets) {
  std::vector<double> values(static_cast<size_t>(kOffset + buckets * kWidth + 5), 0.5);
  std::vector<double> squares(static_cast<size_t>(buckets));
  for (uint64_t step = 1; step <= 2; ++step) {
    std::vector<double> g(static_cast<size_t>(buckets * kWidth));
    for (const uint64_t seed : {2 * step, 2 * step + 1}) {
      for (const Sequence& s : random_sequences(seed)) {
        for (size_t t = 0; t < s.tokens.size(); ++t) {
          for (const uint32_t row :
               ngram_rows(table_of(buckets), s.tokens, static_cast<int64_t>(t))) {
            for (size_t c = 0; c < kWidth; ++c)
              g[row * kWidth + c] += 0.25 * static_cast<double>(s.dx[t * kWidth + c]);
          }
        }
      }
    }
    for (size_t row = 0; row < squares.size(); ++row) {
      for (size_t c = 0; c < kWidth; ++c)
        squares[row] += g[row * kWidth + c] * g[row * kWidth + c] / kWidth;
      for (size_t c = 0; c < kWidth; ++c)
        values[kOffset + row * kWidth + c] -= 0.05 * static_cast<double>(step) *
                                              g[row * kWidth + c] /
                                              (std::sqrt(squares[row]) + 1e-10);
    }
  }
  return values;
}

TEST(SparseAdagradTest, StepsEqualAPlainLoop) {
  for (const int64_t buckets : {1, 50, 1000}) {
    const Result got = two_steps(buckets, 1);
    const std::vector<double> want = plain_steps(buckets);
    for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got.values[i], want[i], 1e-6) << i;
  }
}

TEST(SparseAdagradTest, SameOnAnyNumberOfThreadsBitForBit) {
  for (const int64_t buckets : {1, 50, 1000}) {
    const Result one = two_steps(buckets, 1);
    for (const int threads : {2, 3}) EXPECT_TRUE(two_steps(buckets, threads) == one) << buckets;
  }
}

TEST(SparseAdagradTest, AStepForgetsWhatItUsed) {
  Context context(2);
  SparseAdagrad sparse(table_of(50));
  std::vector<float> values(kOffset + 50 * kWidth);
  keep(random_sequences(1), sparse);
  sparse.step(context, 0.05f, 1.0f, values.data());
  const std::vector<float> after = values;
  sparse.step(context, 0.05f, 1.0f, values.data());
  // Room for sequences whose gradient never came is room for nothing.
  EXPECT_EQ(sparse.expect(3), 0u);
  sparse.step(context, 0.05f, 1.0f, values.data());
  EXPECT_EQ(values, after);
}

ModelConfig ngrams_config(const char* task) {
  ModelConfig config = small_config("kernel");
  config.task = task;
  config.ngrams = 3;
  config.ngram_buckets = 200;
  if (config.task == "tokens") config.pool = "none";
  return config;
}

std::vector<Example> examples_of(const ModelConfig& config) {
  std::vector<Example> examples = listops_rows(20);
  for (size_t i = 0; i < examples.size(); ++i) {
    if (config.task == "match") examples[i].other = examples[(i + 3) % examples.size()].tokens;
    for (const int32_t token : examples[i].tokens)
      examples[i].targets.push_back(token % static_cast<int32_t>(config.classes) - (i == 2));
  }
  return examples;
}

// After two batches, the table moves by the mean gradient of both; a clip of the dense part does
// not show.
TEST(SparseAdagradTest, TheTrainerTakesTheStep) {
  for (const char* task : {"classify", "match", "tokens"}) {
    const ModelConfig config = ngrams_config(task);
    const Model model(config);
    const std::vector<Example> examples = examples_of(config);
    std::vector<const Example*> first, second;
    for (const Example& e : examples) (first.size() < 9 ? first : second).push_back(&e);
    std::vector<float> moved;
    for (const int threads : {1, 2, 3}) {
      Context context(threads);
      Trainer trainer(context, model, Parameters::initial(model, 7),
                      {.optimizer = {.warmup = 4, .clip = 1e-3, .sparse_lr = 0.2}});
      trainer.accumulate(first);
      trainer.accumulate(second);
      const Block grads = trainer.copy_grads();
      const auto pending = static_cast<double>(trainer.pending());
      trainer.update();
      const int64_t at = model.ngrams().weight, C = config.width;
      for (int64_t row = 0; row < config.ngram_buckets; ++row) {
        const auto g = [&](int64_t c) { return grads.data()[at + row * C + c] / pending; };
        double square = 0;
        for (int64_t c = 0; c < C; ++c) square += g(c) * g(c) / static_cast<double>(C);
        for (int64_t c = 0; c < C; ++c) {
          const double want = square > 0 ? -0.2 / 4 * g(c) / (std::sqrt(square) + 1e-10) : 0;
          ASSERT_NEAR(trainer.values()[at + row * C + c], want, 1e-6) << task << " " << row;
        }
      }
      const std::vector<float> table(trainer.values() + at,
                                     trainer.values() + model.layout().floats());
      if (threads == 1) moved = table;
      EXPECT_EQ(table, moved) << task;
    }
  }
}

// The mean of tokens without positions is the same for any order; only n-grams tell 1 2 from 2 1.
double accuracy_after_training(int64_t ngrams) {
  ModelConfig config = small_config("mean");
  config.classes = 2;
  config.positions = "none";
  config.pool = "mean";
  config.dropout = 0;
  config.ngrams = ngrams;
  config.ngram_buckets = 5000;
  Random random(5);
  std::vector<Example> examples;
  for (int i = 0; i < 200; ++i) {
    Example& e = examples.emplace_back();
    for (int t = 0; t < 12; ++t) e.tokens.push_back(static_cast<int32_t>(3 + random.below(8)));
    e.label = i % 2;
    const uint32_t at = random.below(11);
    e.tokens[at] = 1 + e.label;
    e.tokens[at + 1] = 2 - e.label;
  }
  std::vector<const Example*> batch;
  for (const Example& e : examples) batch.push_back(&e);
  Context context(2);
  const Model model(config);
  Trainer trainer(context, model, Parameters::initial(model, 7),
                  {.optimizer = {.lr = 0.01, .warmup = 10}});
  double accuracy = 0;
  for (int step = 0; step < 40; ++step) {
    accuracy = trainer.accumulate(batch).accuracy;
    trainer.update();
  }
  return accuracy;
}

TEST(SparseAdagradTest, PairsShowTheOrderThatAMeanCannot) {
  EXPECT_LT(accuracy_after_training(0), 0.8);
  EXPECT_GT(accuracy_after_training(2), 0.98);
}

}  // namespace
}  // namespace linnet
