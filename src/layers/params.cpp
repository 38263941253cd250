// params.cpp -- the layout of the parameter block, its initial values and its packed copies.
#include "layers/params.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "core/random.h"
#include "kernels/gemm.h"

namespace linnet {
namespace {

// n vectors of `size` numbers, one after the other, normal and then made orthonormal by
// Gram-Schmidt, twice for precision; where n > size, in blocks of `size`.
std::vector<double> orthonormal(int64_t n, int64_t size, Random& random) {
  std::vector<double> all(static_cast<size_t>(n * size));
  for (double& x : all) x = random.normal();
  const auto at = [&](int64_t i) { return all.data() + i * size; };
  for (int64_t i = 0; i < n; ++i) {
    for (int pass = 0; pass < 2; ++pass) {
      for (int64_t j = i / size * size; j < i; ++j) {
        const double along = std::inner_product(at(i), at(i) + size, at(j), 0.0);
        for (int64_t d = 0; d < size; ++d) at(i)[d] -= along * at(j)[d];
      }
      const double length = std::sqrt(std::inner_product(at(i), at(i) + size, at(i), 0.0));
      for (int64_t d = 0; d < size; ++d) at(i)[d] /= length;
    }
  }
  return all;
}

// One slice [in, out] of an orthogonal parameter.
void draw_orthogonal(int64_t in, int64_t out, bool as_normal, Random& random, float* w) {
  // The shorter side has the orthonormal vectors; random features always lie along the columns.
  const bool columns = as_normal || out < in;
  const int64_t n = columns ? out : in, size = columns ? in : out;
  const std::vector<double> vectors = orthonormal(n, size, random);
  for (int64_t i = 0; i < n; ++i) {
    double squares = 0;
    for (int64_t d = 0; as_normal && d < size; ++d) {
      const double x = random.normal();
      squares += x * x;
    }
    const double length = as_normal ? std::sqrt(squares) : 1.0;
    for (int64_t d = 0; d < size; ++d) {
      w[columns ? d * out + i : i * out + d] =
          static_cast<float>(length * vectors[static_cast<size_t>(i * size + d)]);
    }
  }
}

void draw(const ParamSpec& spec, Random random, float* p) {
  const int64_t n = spec.size();
  if (spec.init == Init::normal) {
    std::generate_n(p, n, [&] { return static_cast<float>(spec.gain * random.normal()); });
    return;
  }
  if (spec.init == Init::zeros || spec.init == Init::ones || spec.init == Init::first_ones) {
    std::fill_n(p, n, 0.0f);
    if (spec.init != Init::zeros)
      std::fill_n(p, spec.init == Init::ones ? n : spec.shape.back(), 1.0f);
    return;
  }
  LINNET_ASSERT(spec.shape.size() >= 2);
  const int64_t out = spec.shape.back(), in = spec.shape[spec.shape.size() - 2];
  if (spec.init == Init::xavier) {
    const double limit = spec.gain * std::sqrt(6.0 / static_cast<double>(in + out));
    std::generate_n(p, n, [&] { return static_cast<float>(limit * (2 * random.uniform() - 1)); });
    return;
  }
  for (int64_t slice = 0; slice < n; slice += in * out)
    draw_orthogonal(in, out, spec.init == Init::orthogonal_normal, random, p + slice);
}

}  // namespace

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
  LINNET_ASSERT(dense_ == floats_);  // nothing sparse yet
  const int64_t offset = append(std::move(name), std::move(shape), init, gain, decay);
  dense_ = floats_;
  return offset;
}

int64_t ParamLayout::add_fixed(std::string name, std::vector<int64_t> shape, Init init,
                               int64_t redraw) {
  const int64_t offset = add(std::move(name), std::move(shape), init, 1.0f, false);
  specs_.back().learned = false;
  specs_.back().redraw = redraw;
  return offset;
}

int64_t ParamLayout::add_sparse(std::string name, std::vector<int64_t> shape) {
  const int64_t offset = append(std::move(name), std::move(shape), Init::zeros, 0.0f, false);
  specs_.back().sparse = true;
  return offset;
}

void ParamLayout::scale_start(int64_t offset, double factor) {
  const auto spec = std::find_if(specs_.rbegin(), specs_.rend(),  // one of the last
                                 [&](const ParamSpec& s) { return s.offset == offset; });
  LINNET_ASSERT(spec != specs_.rend() &&
                (spec->init == Init::normal || spec->init == Init::xavier));
  spec->gain *= static_cast<float>(factor);
}

int64_t ParamLayout::append(std::string name, std::vector<int64_t> shape, Init init, float gain,
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
  for (const ParamSpec& spec : specs_) n += spec.learned ? spec.size() : 0;
  return n;
}

void ParamLayout::initialise(uint64_t seed, float* params) const {
  for (size_t i = 0; i < specs_.size(); ++i) {
    draw(specs_[i], Random(seed, i), params + specs_[i].offset);
  }
}

void ParamLayout::redraw(uint64_t seed, int64_t step, float* params) const {
  for (size_t i = 0; i < specs_.size(); ++i) {
    const ParamSpec& spec = specs_[i];
    if (spec.redraw == 0 || step % spec.redraw != 0) continue;
    draw(spec, Random(seed + static_cast<uint64_t>(step) * 0x9E3779B97F4A7C15u, i),
         params + spec.offset);
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
