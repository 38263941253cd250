// params.cpp -- the layout of the parameter block, its initial values and its packed copies.
#include "layers/params.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/random.h"
#include "kernels/gemm.h"

namespace linnet {

int64_t ParamSpec::size() const {
  int64_t n = 1;
  for (int64_t dim : shape) n *= dim;
  return n;
}

Matrix Matrix::columns(int64_t first, int64_t n) const {
  LINNET_ASSERT(first % kPanel == 0 && first + n <= out);
  Matrix m = *this;
  m.out = n;
  m.weight += first;
  m.packed += first * whole_in;
  m.packed_transposed += first * kPanel;
  return m;
}

Matrix Matrix::rows(int64_t first, int64_t n) const {
  LINNET_ASSERT(first % kPanel == 0 && first + n <= in);
  Matrix m = *this;
  m.in = n;
  m.weight += first * whole_out;
  m.packed += first * kPanel;
  m.packed_transposed += first * whole_out;
  return m;
}

int64_t ParamLayout::add(std::string name, std::vector<int64_t> shape, Init init, float gain,
                         bool decay) {
  specs_.push_back({std::move(name), std::move(shape), init, gain, decay, floats_});
  floats_ += round_up(specs_.back().size(), kAlignFloats);
  return specs_.back().offset;
}

Matrix ParamLayout::matrix(int64_t weight, int64_t in, int64_t out) {
  const Matrix m{.in = in,
                 .out = out,
                 .whole_in = in,
                 .whole_out = out,
                 .weight = weight,
                 .packed = packed_,
                 .packed_transposed = packed_};
  packed_ += std::max(linnet::packed_floats(in, out), linnet::packed_floats(out, in));
  matrices_.push_back(m);
  return m;
}

int64_t ParamLayout::parameters() const {
  int64_t n = 0;
  for (const ParamSpec& spec : specs_) n += spec.size();
  return n;
}

void ParamLayout::initialise(uint64_t seed, float* params) const {
  for (size_t i = 0; i < specs_.size(); ++i) {
    const ParamSpec& spec = specs_[i];
    float* p = params + spec.offset;
    Random random(seed, i);
    if (spec.init == Init::normal) {
      std::generate_n(p, spec.size(),
                      [&] { return static_cast<float>(spec.gain * random.normal()); });
    } else if (spec.init == Init::xavier) {
      LINNET_ASSERT(spec.shape.size() >= 2);
      const auto fan = static_cast<double>(spec.shape.back() + spec.shape[spec.shape.size() - 2]);
      const double limit = spec.gain * std::sqrt(6.0 / fan);
      std::generate_n(p, spec.size(),
                      [&] { return static_cast<float>(limit * (2 * random.uniform() - 1)); });
    } else {
      std::fill_n(p, spec.size(), spec.init == Init::ones ? 1.0f : 0.0f);
    }
  }
}

void ParamLayout::pack(Context& context, const float* params, float* packed,
                       float* packed_transposed) const {
  context.parallel(static_cast<int64_t>(matrices_.size()), [&](int64_t i, int) {
    const Matrix& m = matrices_[static_cast<size_t>(i)];
    const float* w = params + m.weight;
    linnet::pack(m.in, m.out, w, m.out, packed + m.packed);
    if (packed_transposed)
      pack_transposed(m.out, m.in, w, m.out, packed_transposed + m.packed_transposed);
  });
}

}  // namespace linnet
