// sparse_adagrad.cpp -- keeps gradients by sequence, sums them by row.
#include "train/sparse_adagrad.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "kernels/rows.h"

namespace linnet {
namespace {

constexpr int64_t kRanges = 64;  // of rows, a task each: enough for even shares, few to search for
constexpr double kEps = 1e-10;   // a gradient of zeros is no step, not 0 / 0

}  // namespace

SparseAdagrad::SparseAdagrad(const NgramTable& table)
    : table_(table), squares_(round_up(table.buckets, kAlignFloats)) {}

size_t SparseAdagrad::expect(size_t sequences) {
  if (table_.longest == 0) return 0;
  const size_t first = kept_;
  kept_ += sequences;
  if (sequences_.size() < kept_) sequences_.resize(kept_);
  for (size_t i = first; i < kept_; ++i) sequences_[i].uses.clear();
  return first;
}

void SparseAdagrad::keep(size_t number, std::span<const int32_t> tokens, ConstMat dx) {
  LINNET_ASSERT(number < kept_);
  Sequence& s = sequences_[number];
  const int64_t C = table_.width;
  const auto T = static_cast<int64_t>(tokens.size());
  s.dx.resize(static_cast<size_t>(T * C));
  copy_rows(T, C, dx, {s.dx.data(), C});
  for (int64_t t = 0; t < T; ++t) {
    for (const uint32_t row : ngram_rows(table_, tokens, t))
      s.uses.push_back({row, static_cast<uint32_t>(t)});
  }
  // Here, where every thread has sequences of its own: a range is then found by bisection.
  std::sort(s.uses.begin(), s.uses.end());
}

template <class Visit>
void SparseAdagrad::for_each_row(int64_t first, int64_t last, const Visit& visit) const {
  struct Place {
    uint32_t row;
    const float* dx;
  };
  std::vector<Place> places;
  for (size_t i = 0; i < kept_; ++i) {
    const Sequence& s = sequences_[i];
    auto use = std::lower_bound(s.uses.begin(), s.uses.end(), Use{static_cast<uint32_t>(first), 0});
    for (; use != s.uses.end() && use->row < last; ++use)
      places.push_back({use->row, s.dx.data() + int64_t{use->token} * table_.width});
  }
  // Stable: the sequences stay in their order, and so does the sum.
  std::stable_sort(places.begin(), places.end(),
                   [](const Place& a, const Place& b) { return a.row < b.row; });
  std::vector<float> sum(static_cast<size_t>(table_.width));
  for (auto place = places.begin(); place != places.end();) {
    const uint32_t row = place->row;
    std::fill(sum.begin(), sum.end(), 0.0f);
    for (; place != places.end() && place->row == row; ++place)
      add(table_.width, place->dx, sum.data());
    visit(int64_t{row}, sum.data());
  }
}

void SparseAdagrad::add_to(float* sum) const {
  for_each_row(0, table_.buckets, [&](int64_t row, const float* dx) {
    add(table_.width, dx, sum + row * table_.width);
  });
}

void SparseAdagrad::step(Context& context, float rate, float scale, float* values) {
  if (kept_ == 0) return;
  const int64_t C = table_.width;
  context.parallel(kRanges, [&](int64_t i, int) {
    const int64_t first = i * table_.buckets / kRanges, last = (i + 1) * table_.buckets / kRanges;
    for_each_row(first, last, [&](int64_t row, const float* dx) {
      float& a = squares_.data()[row];
      a += static_cast<float>(sum_of_squares(C, dx) * scale * scale / static_cast<double>(C));
      const double factor = rate * scale / (std::sqrt(static_cast<double>(a)) + kEps);
      add_scaled(C, static_cast<float>(-factor), dx, values + table_.weight + row * C);
    });
  });
  forget();
}

}  // namespace linnet
