// region_fit.cpp -- members of a region part, each trained text by text.
#include "train/region_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>

#include "core/arena.h"
#include "core/random.h"
#include "data/drop_tokens.h"

namespace linnet {
namespace {

// Chosen on reviews of films that the training texts do not have (HACKING.md).
constexpr double kRate = 0.05, kDropTokens = 0.4, kStart = 0.05;
constexpr int64_t kMembers = 4;  // as far as there are blocks of units
constexpr size_t kTexts = 1000;  // between two looks at whether to go on

int64_t members_of(const RegionTable& table) { return std::gcd(kMembers, table.blocks()); }

// Twenty of IMDb, fewer of more tokens.
int64_t passes_of(const RegionTexts& texts) {
  int64_t tokens = 1;
  for (const std::vector<int32_t>& text : texts.tokens) tokens += static_cast<int64_t>(text.size());
  return std::clamp<int64_t>(200'000'000 / tokens, 2, 20);
}

// The loss of one column of two classes, or of one a class; logits become the loss by them.
double loss_of(std::vector<double>& logits, int label) {
  if (logits.size() == 1) {
    const double sign = label == 1 ? -1 : 1, z = sign * logits[0];  // the loss is log(1 + e^z)
    logits[0] = sign / (1 + std::exp(-z));
    return std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z)));
  }
  const double top = *std::ranges::max_element(logits);
  const double target = logits[static_cast<size_t>(label)] - top;
  double sum = 0;
  for (double& x : logits) sum += x = std::exp(x - top);
  for (double& x : logits) x /= sum;
  logits[static_cast<size_t>(label)] -= 1;
  return std::log(sum) - target;
}

class RegionMember {
 public:
  RegionMember(const RegionTable& whole, const RegionTexts& texts, uint64_t seed, int64_t number)
      : texts_(texts),
        random_(seed, static_cast<uint64_t>(number)),
        table_(add_region_table(layout_, "member", whole.classes, whole.places, whole.rows,
                                whole.units / members_of(whole))),
        values_(layout_.floats()),
        squares_(layout_.floats()),
        state_(table_) {
    const auto draw = [&](int64_t offset, int64_t count) {
      std::generate_n(values_.data() + offset, count, [&] {
        return static_cast<float>((2.0 * random_.bits() * 0x1p-32 - 1) * kStart);
      });
    };
    draw(table_.weight, table_.units * table_.places * table_.rows);
    draw(table_.out, table_.units * table_.columns);
  }

  // One pass over the texts. tell(mean loss so far), now and then: whether to go on.
  bool pass(int64_t number, int64_t passes, const std::function<bool(double)>& tell) {
    std::vector<size_t> order(texts_.labels.size());
    std::iota(order.begin(), order.end(), 0);
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random_.below(static_cast<uint32_t>(i))]);
    double loss = 0, done = static_cast<double>(number);
    const auto count = static_cast<double>(order.size());
    for (size_t at = 0; at < order.size(); ++at) {
      if (at % kTexts == 0 && !tell(loss / static_cast<double>(std::max<size_t>(at, 1))))
        return false;
      loss += step(texts_.tokens[order[at]], texts_.labels[order[at]],
                   static_cast<float>(kRate * (1 - done / static_cast<double>(passes))));
      done += 1 / count;
    }
    return true;
  }

  // Its share of the mean, all but that of out_bias, which it gives back.
  std::vector<float> put_into(const RegionTable& whole, int64_t number, float* params) const {
    const float share = 1.0f / static_cast<float>(members_of(whole));
    const int64_t first = number * table_.units;
    const float* own = values_.data();
    std::copy_n(own + table_.weight, table_.units * table_.places * table_.rows,
                params + whole.row(first / kRegionBlock, 0, 0));
    std::copy_n(own + table_.bias, table_.units, params + whole.bias + first);
    for (int64_t i = 0; i < table_.units * table_.columns; ++i)
      params[whole.out + first * table_.columns + i] = share * own[table_.out + i];
    std::vector<float> bias(own + table_.out_bias, own + table_.out_bias + table_.columns);
    for (float& x : bias) x *= share;
    return bias;
  }

 private:
  double step(const std::vector<int32_t>& tokens, int label, float rate) {
    region_ids(table_, tokens, state_.ids);
    drop_tokens(kDropTokens, random_, state_.ids);
    std::vector<double> slopes = region_forward(table_, values_.data(), state_);
    const double loss = loss_of(slopes, label);
    region_backward(table_, values_.data(), state_, slopes, unit_slopes_);
    visit_region_gradient(table_, state_, slopes, unit_slopes_, [&](int64_t offset, float slope) {
      float& square = squares_.data()[offset];
      square += slope * slope;
      values_.data()[offset] -= rate * slope / std::sqrt(square + 1e-8f);
    });
    return loss;
  }

  const RegionTexts& texts_;
  Random random_;
  ParamLayout layout_;
  RegionTable table_;
  Block values_, squares_;  // squares: sums of squared gradients
  RegionState state_;
  std::vector<float> unit_slopes_;
};

}  // namespace

void RegionTexts::add(const RegionTexts& others) {
  tokens.insert(tokens.end(), others.tokens.begin(), others.tokens.end());
  labels.insert(labels.end(), others.labels.begin(), others.labels.end());
}

void region_backward(const RegionTable& table, const float* params, const RegionState& state,
                     const std::vector<double>& dlogits, std::vector<float>& slope) {
  slope.assign(state.hidden.size(), 0.0f);
  const float* out = params + table.out;
  for (size_t u = 0; u < slope.size(); ++u, out += table.columns) {
    if (state.hidden[u] == 0) continue;
    slope[u] = static_cast<float>(std::inner_product(dlogits.begin(), dlogits.end(), out, 0.0));
  }
}

void fit_regions(Context& context, const RegionTable& table, const RegionTexts& texts,
                 uint64_t seed, float* params,
                 const std::function<void(const std::string&)>& show) {
  const int64_t members = members_of(table), passes = passes_of(texts);
  std::vector<std::vector<float>> biases(static_cast<size_t>(members));
  std::mutex mutex;
  int64_t begun = 0;
  bool stopped = false;  // by an exception of show: the other members end, too
  context.parallel(members, [&](int64_t number, int) {
    RegionMember member(table, texts, seed, number);
    for (int64_t pass = 0; pass < passes; ++pass) {
      bool first = true;
      const auto tell = [&](double loss) {
        const std::lock_guard lock(mutex);
        if (stopped) return false;
        begun += first;
        stopped = true;
        show(fmt::format("regions, pass {} of {}{}", begun, members * passes,
                         first ? "" : fmt::format(": loss {:.4f}", loss)));
        stopped = first = false;
        return true;
      };
      if (!member.pass(pass, passes, tell)) return;
    }
    biases[static_cast<size_t>(number)] = member.put_into(table, number, params);
  });
  // In their order, so the sum has the same bits every time.
  float* sums = params + table.out_bias;
  std::fill_n(sums, table.columns, 0.0f);
  for (const std::vector<float>& bias : biases)
    std::transform(bias.begin(), bias.end(), sums, sums, std::plus<>());
}

}  // namespace linnet
