// chain.cpp -- runs the stages of a phi one after the other, and back.
#include "features/chain.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "features/phi_text.h"
#include "layers/linear.h"

namespace linnet {
namespace {

// More features than this a head would take gigabytes of state in an ordinary model.
constexpr int64_t kMostFeatures = 1 << 16;

double flops_of(const Matrix& m) {
  return 2.0 * static_cast<double>(m.in) * static_cast<double>(m.out);
}

FeatureRun run_of(const FeatureStage& stage, const Weights& weights, Arena& scratch) {
  return {.plan = stage.plan, .weights = weights, .scratch = scratch};
}

// Values after stage `i`: a place in scratch, or phi after the last.
Mat place_after(const FeatureChain& chain, size_t i, int64_t rows, Mat phi, Arena& scratch) {
  const FeaturePlan& plan = chain.stages[i].plan;
  return i + 1 == chain.stages.size() ? phi : take_mat(scratch, rows, plan.heads * plan.out);
}

}  // namespace

double FeatureChain::flops(bool folded) const {
  double total = 0;
  for (const FeatureStage& stage : stages) {
    for (const Matrix& m : stage.plan.matrices) total += flops_of(m);
  }
  if (!folded || !folds()) return total;
  return total - static_cast<double>(heads) * flops_of(stages[0].plan.matrices[0]);
}

bool FeatureChain::folds() const {
  return !stages.empty() && stages[0].kind->activate && stages[0].plan.matrices[0].out <= in;
}

FeatureChain build_chain(ParamLayout& layout, const std::string& name, std::string_view text,
                         int64_t heads, int64_t in) {
  const std::vector<PhiStage> parsed = parse_phi(text);
  FeatureChain chain{.heads = heads, .in = in, .out = in, .stages = {}};
  for (size_t i = 0; i < parsed.size(); ++i) {
    const PhiStage& p = parsed[i];
    FeatureStage stage{.kind = p.kind,
                       .plan = {.heads = heads,
                                .in = chain.out,
                                .out = p.features,
                                .last = i + 1 == parsed.size(),
                                .rank = p.rank,
                                .redraw = p.redraw,
                                .place = p.place,
                                .matrices = {}}};
    p.kind->build(layout, parsed.size() == 1 ? name : fmt::format("{}.{}", name, i), stage.plan);
    chain.out = stage.plan.out;
    if (chain.out > kMostFeatures) {
      throw Error(
          fmt::format("{} {} features a head are more than {}", p.place, chain.out, kMostFeatures));
    }
    chain.stages.push_back(std::move(stage));
  }
  return chain;
}

void chain_forward(const FeatureChain& chain, const Weights& weights, int64_t rows, ConstMat x,
                   bool folded, Mat phi, Arena& scratch) {
  Arena::Scope scope(scratch);
  for (size_t i = 0; i < chain.stages.size(); ++i) {
    const FeatureStage& stage = chain.stages[i];
    const Mat y = place_after(chain, i, rows, phi, scratch);
    const auto step = i == 0 && folded ? stage.kind->activate : stage.kind->forward;
    step(run_of(stage, weights, scratch), rows, x, y);
    x = y;
  }
}

void chain_backward(const FeatureChain& chain, const Weights& weights, int64_t rows, ConstMat x,
                    ConstMat phi, Mat dphi, Mat dx, float* grads, Arena& scratch) {
  Arena::Scope scope(scratch);
  std::vector<ConstMat> values = {x};
  for (size_t i = 0; i + 1 < chain.stages.size(); ++i) {
    const Mat y = place_after(chain, i, rows, {}, scratch);
    chain.stages[i].kind->forward(run_of(chain.stages[i], weights, scratch), rows, values[i], y);
    values.push_back(y);
  }
  values.push_back(phi);
  for (size_t i = chain.stages.size(); i-- > 0;) {
    const FeatureStage& stage = chain.stages[i];
    const Mat owed = i == 0 ? dx : place_after(chain, i - 1, rows, {}, scratch);
    stage.kind->backward(run_of(stage, weights, scratch), rows, values[i], values[i + 1], dphi,
                         owed, grads);
    dphi = owed;
  }
}

void chain_fold(const FeatureChain& chain, const float* params, int64_t in_rows, float* weight,
                float* bias) {
  const FeaturePlan& plan = chain.stages[0].plan;
  const int64_t D = plan.in, C = plan.heads * D;
  std::vector<double> sum(static_cast<size_t>(D));
  for (int64_t r = 0; r <= in_rows; ++r) {
    float* row = r < in_rows ? weight + r * C : bias;
    for (int64_t h = 0; h < plan.heads; ++h) {
      const Matrix& m = plan.matrix(0, h);
      std::fill(sum.begin(), sum.end(), 0.0);
      for (int64_t d = 0; d < D; ++d) {
        const double x = row[h * D + d];
        for (int64_t f = 0; f < m.out; ++f)
          sum[static_cast<size_t>(f)] += x * params[m.weight + d * m.out + f];
      }
      for (int64_t f = 0; f < D; ++f)
        row[h * D + f] = static_cast<float>(sum[static_cast<size_t>(f)]);
    }
  }
}

void chain_reference(const FeatureChain& chain, const Complex* params, int64_t head,
                     const Complex* x, Complex* phi) {
  std::vector<Complex> value(x, x + chain.in);
  for (const FeatureStage& stage : chain.stages) {
    std::vector<Complex> next(static_cast<size_t>(stage.plan.out));
    stage.kind->reference(stage.plan, params, head, value.data(), next.data());
    value = std::move(next);
  }
  std::copy(value.begin(), value.end(), phi);
}

}  // namespace linnet
