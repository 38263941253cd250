// head_test.cpp -- the vectors of a sequence, by every kind of pooling and past the blocks, and
// their gradients against the complex step; so the classifier of a pair.
#include "models/head.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>
#include <string>
#include <vector>

#include "tests/gradient_check.h"
#include "tests/models/small_model.h"

namespace linnet {
namespace {

struct Case {
  const char* pool;
  int64_t width, rows;  // rows: of the sequence, CLS included
  double scale, offset;
};

using Numbers = std::vector<Complex>;

// LN of one row of C numbers.
Numbers norm(const LayerNorm& layer, double eps, const Numbers& params, const Numbers& x) {
  const auto n = static_cast<double>(x.size());
  Complex mean = 0, variance = 0;
  for (const Complex& v : x) mean += v / n;
  for (const Complex& v : x) variance += (v - mean) * (v - mean) / n;
  Numbers y;
  for (size_t c = 0; c < x.size(); ++c) {
    const auto at = static_cast<int64_t>(c);
    y.push_back((x[c] - mean) / std::sqrt(variance + eps) *
                    params[static_cast<size_t>(layer.weight + at)] +
                params[static_cast<size_t>(layer.bias + at)]);
  }
  return y;
}

void check_case(const Case& c) {
  ModelConfig config = small_config("mean", "softplus", false);
  config.width = c.width;
  config.heads = 1;
  config.pool = c.pool;
  config.bag = true;
  const Model model(config);
  const int64_t C = c.width, floats = model.layout().floats();
  const RowRange pooled = pooled_rows(model, c.rows);
  const std::vector<float> params = random_floats(floats, 5),
                           x = random_floats(c.rows * C, 6, c.scale, c.offset),
                           start = random_floats(c.rows * C, 7, c.scale, c.offset),
                           dy = random_floats(2 * C, 8);
  // The definition: what came out of the blocks, then what went into them.
  const auto f = [&](const Numbers& input) {
    const Numbers values(input.begin(), input.begin() + floats);
    const auto row = [&](int64_t block, int64_t r) {
      const auto first = input.begin() + floats + (block * c.rows + r) * C;
      return Numbers(first, first + C);
    };
    const auto mean = [&](int64_t block, RowRange rows, bool normed) {
      Numbers sum(static_cast<size_t>(C));
      for (int64_t r = rows.first; r < rows.last; ++r) {
        const Numbers one = normed
                                ? norm(model.final_norm(), config.norm_eps, values, row(block, r))
                                : row(block, r);
        for (size_t i = 0; i < one.size(); ++i)
          sum[i] += one[i] / static_cast<double>(rows.count());
      }
      return sum;
    };
    const std::string pool = c.pool;
    Numbers y = mean(0, pooled, pool != "mean-first" && pool != "max");
    if (pool == "max") {
      y = row(0, 0);
      for (int64_t r = 1; r < c.rows; ++r) {
        const Numbers other = row(0, r);
        for (size_t i = 0; i < y.size(); ++i)
          if (other[i].real() > y[i].real()) y[i] = other[i];
      }
    }
    if (pool == "mean-first" || pool == "max")
      y = norm(model.final_norm(), config.norm_eps, values, y);
    const Numbers bag =
        norm(model.bag_norm(), config.norm_eps, values, mean(1, {model.rows(0), c.rows}, false));
    y.insert(y.end(), bag.begin(), bag.end());
    return y;
  };
  Numbers input;
  append(input, params.data(), floats);
  append(input, x.data(), c.rows * C);
  append(input, start.data(), c.rows * C);

  const Weights weights{.params = params.data()};
  Arena scratch;
  std::vector<float> y(static_cast<size_t>(2 * C)), gradient(input.size());
  const ConstMat out{x.data(), C}, in{start.data(), C};
  pool_forward(model, weights, pooled.count(), out.rows(pooled.first), scratch, y.data());
  bag_forward(model, weights, c.rows, in, scratch, y.data());
  const Numbers want = f(input);
  for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], want[i].real(), 2e-5) << c.pool << i;

  const Mat dout{gradient.data() + floats, C}, din = dout.rows(c.rows);
  pool_backward(model, weights, pooled.count(), out.rows(pooled.first), dy.data(),
                dout.rows(pooled.first), gradient.data(), scratch);
  bag_backward(model, weights, c.rows, in, dy.data(), din, gradient.data(), scratch);
  std::vector<GradientPart> parts = parameter_parts(model.layout(), 0);
  std::erase_if(parts, [](const GradientPart& p) { return p.name.find("_norm.") == p.name.npos; });
  ASSERT_EQ(parts.size(), 4u);
  parts.push_back({"out of the blocks", floats, c.rows * C});
  parts.push_back({"into the blocks", floats + c.rows * C, c.rows * C});
  check_gradients(f, input, dy, parts, gradient);
}

Complex gelu(Complex x) {
  return 0.5 * x * (1.0 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

// The classifier of two vectors by its definition.
Numbers classified(const Model& model, const Numbers& params, const Numbers& vectors) {
  const std::string& pair = model.config().pair;
  const size_t V = vectors.size() / 2;
  Numbers x = vectors;
  if (pair != "concat") {
    for (size_t c = 0; c < V; ++c) x.push_back(vectors[c] * vectors[V + c]);
    for (size_t c = 0; c < V; ++c) {
      const Complex difference = vectors[c] - vectors[V + c];
      x.push_back(pair == "distance" && difference.real() < 0 ? -difference : difference);
    }
  }
  for (const Linear& linear : model.head()) {
    Numbers y(params.begin() + linear.bias, params.begin() + linear.bias + linear.out());
    for (int64_t i = 0; i < linear.in(); ++i)
      for (int64_t o = 0; o < linear.out(); ++o)
        y[static_cast<size_t>(o)] +=
            x[static_cast<size_t>(i)] *
            params[static_cast<size_t>(linear.matrix.weight + i * linear.out() + o)];
    if (&linear != &model.head().back()) std::ranges::transform(y, y.begin(), gelu);
    x = y;
  }
  return x;
}

struct Packed {
  Packed(const Model& model, const std::vector<float>& params)
      : forward(static_cast<size_t>(model.layout().packed_floats())), transposed(forward) {
    Context context;
    model.layout().pack(context, params.data(), forward.data(), transposed.data());
    weights = {params.data(), forward.data(), transposed.data()};
  }
  std::vector<float> forward, transposed;
  Weights weights;
};

void check_pair(const char* pair, int64_t width, double scale) {
  ModelConfig config = small_config("mean", "softplus", false);
  config.task = "match";
  config.pair = pair;
  config.width = width;
  config.heads = 1;
  const Model model(config);
  const int64_t floats = model.layout().floats();
  const std::vector<float> params = random_floats(floats, 15, 0.3),
                           vectors = random_floats(2 * width, 16, scale),
                           dy = random_floats(config.classes, 17);
  Numbers input;
  append(input, params.data(), floats);
  append(input, vectors.data(), 2 * width);
  const auto f = [&](const Numbers& x) {
    return classified(model, Numbers(x.begin(), x.begin() + floats),
                      Numbers(x.begin() + floats, x.end()));
  };
  const Packed packed(model, params);
  Arena keep, scratch;
  std::vector<float> logits(static_cast<size_t>(config.classes)), gradient(input.size());
  const HeadTape tape = head_forward(model, packed.weights, vectors.data(), keep, logits.data());
  const Numbers want = f(input);
  for (size_t i = 0; i < logits.size(); ++i)
    EXPECT_NEAR(logits[i], want[i].real(), 1e-5 * (1 + std::abs(want[i]))) << pair;
  head_backward(model, packed.weights, tape, dy.data(), gradient.data() + floats, gradient.data(),
                scratch);
  std::vector<GradientPart> parts = parameter_parts(model.layout(), 0);
  std::erase_if(parts, [](const GradientPart& p) { return !p.name.starts_with("head."); });
  ASSERT_EQ(parts.size(), 6u);
  parts.push_back({"vectors", floats, 2 * width});
  check_gradients(f, input, dy, parts, gradient);
}

TEST(HeadTest, PairsAndTheirGradients) {
  for (const char* pair : {"concat", "compare", "distance"}) {
    for (const double scale : {0.25, 1.0, 4.0}) {
      check_pair(pair, 1, scale);
      check_pair(pair, 17, scale);
    }
  }
}

// Equal texts, e.g. one with itself: |u - v| has a corner there, and 0 is within its derivatives.
TEST(HeadTest, EqualVectorsHaveNoPullApart) {
  ModelConfig config = small_config("mean", "softplus", false);
  config.task = "match";
  config.pair = "distance";
  const Model model(config);
  const int64_t C = config.width;
  std::vector<float> params = random_floats(model.layout().floats(), 18), vectors(2 * C, 0.5f),
                     logits(3), dvectors(2 * C), grads(params.size());
  // Only the distances count.
  std::fill_n(params.data() + model.head()[0].matrix.weight, 3 * C * model.head()[0].out(), 0.0f);
  const Packed packed(model, params);
  Arena keep, scratch;
  const HeadTape tape = head_forward(model, packed.weights, vectors.data(), keep, logits.data());
  head_backward(model, packed.weights, tape, random_floats(3, 19).data(), dvectors.data(),
                grads.data(), scratch);
  EXPECT_EQ(dvectors, std::vector<float>(dvectors.size()));
}

TEST(HeadTest, VectorsAndTheirGradients) {
  for (const char* pool : {"cls", "last", "mean", "mean-first", "max"}) {
    check_case({pool, 5, 2, 1, 0});
    check_case({pool, 17, 131, 1, 0.5});  // into a second chunk
    check_case({pool, 16, 33, 0.1, 0});
    check_case({pool, 23, 7, 8, -3});
  }
}

}  // namespace
}  // namespace linnet
