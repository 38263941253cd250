// ngram_table_test.cpp -- rows by the definition, gradients against the complex step, and a model
// that starts as the one without.
#include "models/ngram_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/activations.h"
#include "models/inference.h"
#include "tests/gradient_check.h"
#include "tests/models/small_model.h"
#include "train/sparse_adagrad.h"

namespace linnet {
namespace {

// The definition, n-gram by n-gram from its first token on.
uint32_t row_of(std::span<const int32_t> ngram, int64_t buckets) {
  uint64_t h = 0;
  for (const int32_t token : ngram) {
    uint64_t z = static_cast<uint64_t>(token) + 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    h = h * 0x9E3779B97F4A7C15u + (z ^ z >> 31);
  }
  return static_cast<uint32_t>((h >> 32) * static_cast<uint64_t>(buckets) >> 32);
}

std::vector<uint32_t> rows_at(Tokens tokens, int64_t t, int64_t longest, int64_t buckets) {
  std::vector<uint32_t> rows;
  for (int64_t k = 2; k <= longest && k <= t + 1; ++k)
    rows.push_back(
        row_of(tokens.subspan(static_cast<size_t>(t - k + 1), static_cast<size_t>(k)), buckets));
  return rows;
}

TEST(NgramTableTest, RowsAreThoseOfTheDefinition) {
  for (const int64_t T : {1, 2, 3, 50}) {
    const std::vector<int32_t> tokens = random_tokens(T, static_cast<uint64_t>(T));
    for (const int64_t buckets : {int64_t{1}, int64_t{7}, int64_t{1} << 18, kMostNgramBuckets}) {
      for (int64_t n = 2; n <= kMostNgrams; ++n) {
        const NgramTable table{.longest = n, .buckets = buckets, .width = 4};
        for (int64_t t = 0; t < T; ++t) {
          const NgramRows rows = ngram_rows(table, tokens, t);
          const std::vector<uint32_t> got(rows.begin(), rows.end());
          EXPECT_EQ(got, rows_at(tokens, t, n, buckets)) << n << " " << t;
          for (const uint32_t row : got) EXPECT_LT(row, buckets);
        }
      }
    }
  }
}

// All pairs of 200 tokens over 100 rows, 400 a row if even: 6 standard deviations are 120.
TEST(NgramTableTest, PairsSpreadOverTheRows) {
  const NgramTable table{.longest = 2, .buckets = 100, .width = 4};
  std::vector<int> counts(100);
  for (int32_t a = 0; a < 200; ++a) {
    for (int32_t b = 0; b < 200; ++b) ++counts[ngram_rows(table, std::vector{a, b}, 1).rows[0]];
  }
  for (const int count : counts) EXPECT_NEAR(count, 400, 120);
}

struct Case {
  int64_t T, longest, buckets;
  const char *pool, *positions;
  float dropout;
};

ModelConfig config_of(const Case& c) {
  ModelConfig config = small_config("mean", "softplus", false);
  config.width = 5;
  config.heads = 1;
  config.length = c.T;
  config.pool = c.pool;
  config.positions = c.positions;
  config.ngrams = c.longest;
  config.ngram_buckets = c.buckets;
  return config;
}

// Rows [T, C] of the input with a given mask of the dropout, from the parameter block alone.
std::vector<Complex> reference(const Model& model, const Sinusoids& sinusoids, Tokens tokens,
                               const std::vector<float>& mask, const std::vector<Complex>& params) {
  const ModelConfig& config = model.config();
  const int64_t C = config.width, shift = model.rows(0);
  const auto at = [&](int64_t i) { return params[static_cast<size_t>(i)]; };
  std::vector<Complex> x;
  for (int64_t r = 0; r < model.rows(static_cast<int64_t>(tokens.size())); ++r) {
    const int64_t t = r - shift;
    std::vector<float> angle(static_cast<size_t>(C));
    if (t >= 0 && config.positions == "sinusoidal") sinusoids.add_to(1, t, {angle.data(), C});
    for (int64_t c = 0; c < C; ++c) {
      Complex sum = t < 0 ? at(model.cls() + c)
                          : at(model.embedding() + tokens[static_cast<size_t>(t)] * C + c);
      if (t >= 0 && config.positions == "learned") sum += at(model.positions() + t * C + c);
      sum += static_cast<double>(angle[static_cast<size_t>(c)]);
      for (const uint32_t row : t < 0 ? std::vector<uint32_t>()
                                      : rows_at(tokens, t, config.ngrams, config.ngram_buckets))
        sum += at(model.ngrams().weight + row * C + c);
      x.push_back(sum * static_cast<double>(mask[x.size()]));
    }
  }
  return x;
}

void check_case(const Case& c) {
  const Model model(config_of(c));
  const Sinusoids sinusoids(model.config().width);
  const std::vector<int32_t> tokens = random_tokens(c.T, 6);
  const int64_t C = model.config().width, rows = model.rows(c.T);
  const std::vector<float> params = random_floats(model.layout().floats(), 8),
                           dy = random_floats(rows * C, 9);
  std::vector<float> mask(static_cast<size_t>(rows * C), 1.0f);
  if (c.dropout > 0) dropout(rows, C, {mask.data(), C}, c.dropout, 5, 0);
  const auto f = [&](const std::vector<Complex>& at) {
    return reference(model, sinusoids, tokens, mask, at);
  };
  std::vector<Complex> input;
  append(input, params.data(), model.layout().floats());

  // Forward, in two pieces: the second has n-grams that begin in the first.
  std::vector<float> x(static_cast<size_t>(rows * C));
  const int64_t cut = rows / 2;
  const Mat view{x.data(), C};
  embed_forward(model, sinusoids, params.data(), tokens, cut, 0, c.dropout, 5, view);
  embed_forward(model, sinusoids, params.data(), tokens, rows - cut, cut, c.dropout, 5,
                view.rows(cut));
  const std::vector<Complex> want = f(input);
  for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], want[i].real(), 2e-5);

  std::vector<float> dx = dy, gradient(static_cast<size_t>(model.layout().floats()));
  embed_backward(model, tokens, rows, 0, c.dropout, 5, {dx.data(), C}, gradient.data());
  SparseAdagrad sparse(model.ngrams());
  sparse.keep(sparse.expect(1), tokens, ConstMat(dx.data(), C).rows(model.rows(0)));
  sparse.add_to(gradient.data() + model.ngrams().weight);
  std::vector<GradientPart> parts = parameter_parts(model.layout(), 0);
  std::erase_if(parts, [](const GradientPart& p) { return p.name.rfind("embed.", 0) != 0; });
  check_gradients(f, input, dy, parts, gradient);
}

TEST(NgramTableTest, GradientsEqualTheComplexStep) {
  for (const int64_t longest : {2, 3, 5, 8}) {
    for (const int64_t T : {1, 2, 4, 7, 33}) {
      for (const int64_t buckets : {1, 3, 61}) {
        check_case({T, longest, buckets, "cls", "learned", 0.0f});
        check_case({T, longest, buckets, "mean", "sinusoidal", 0.3f});
      }
    }
  }
}

TEST(NgramTableTest, StartsAsTheModelWithout) {
  const std::vector<int32_t> tokens = random_tokens(300, 1);
  const Tokens sequence = tokens;
  for (const bool causal : {false, true}) {
    ModelConfig config = small_config("kernel", "softplus", causal);
    config.conv = 3;
    const Model without(config);
    config.ngrams = 3;
    config.ngram_buckets = 1000;
    const Model with(config);
    EXPECT_EQ(with.layout().dense_floats(), without.layout().floats());
    EXPECT_EQ(with.layout().parameters() - without.layout().parameters(), 1000 * config.width);
    Context context(1);
    Inference a(context, with, Parameters::initial(with, 3)),
        b(context, without, Parameters::initial(without, 3)), c(context, with, small_values(with));
    EXPECT_EQ(a.logits({&sequence, 1}), b.logits({&sequence, 1}));
    EXPECT_NE(c.logits({&sequence, 1}), b.logits({&sequence, 1}));
  }
}

}  // namespace
}  // namespace linnet
