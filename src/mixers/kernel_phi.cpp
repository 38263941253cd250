// kernel_phi.cpp -- phi in front of kernel attention, the quotient behind it, and the definition.
#include "mixers/kernel_phi.h"

#include <cmath>
#include <vector>

#include "kernels/activations.h"
#include "kernels/rows.h"
#include "layers/linear.h"

namespace linnet {
namespace {

// Dropout sites that tell queries from keys.
constexpr uint64_t kQuerySite = 1, kKeySite = 2;

// phi's input: x, with dropout in training.
ConstMat phi_input(const MixerRun& run, const MixerChunk& chunk, ConstMat x, uint64_t site) {
  if (run.dropout == 0) return x;
  const Mat dropped = take_mat(run.scratch, chunk.rows, run.plan.width);
  copy_rows(chunk.rows, run.plan.width, x, dropped);
  dropout(chunk.rows, run.plan.width, dropped, run.dropout, run.dropout_key + site, chunk.first);
  return dropped;
}

void forward(const MixerRun& run, const MixerChunk& chunk, ConstMat x, uint64_t site, Mat phi) {
  Arena::Scope scope(run.scratch);
  chain_forward(run.plan.phi, run.weights, chunk.rows, phi_input(run, chunk, x, site), run.folded,
                phi, run.scratch);
}

void backward(const MixerRun& run, const MixerChunk& chunk, ConstMat x, uint64_t site, ConstMat phi,
              Mat dphi, Mat dx, float* grads) {
  Arena::Scope scope(run.scratch);
  chain_backward(run.plan.phi, run.weights, chunk.rows, phi_input(run, chunk, x, site), phi, dphi,
                 dx, grads, run.scratch);
  if (run.dropout == 0) return;
  dropout(chunk.rows, run.plan.width, dx, run.dropout, run.dropout_key + site, chunk.first);
}

}  // namespace

void build_phi(ParamLayout& layout, const std::string& name, MixerPlan& plan) {
  plan.phi = build_chain(layout, name + ".phi", plan.phi_text, plan.heads, plan.head);
  plan.key_width = plan.heads * plan.phi.out;
}

void phi_of_queries(const MixerRun& run, const MixerChunk& chunk, Mat phi) {
  forward(run, chunk, chunk.q, kQuerySite, phi);
}

void phi_of_queries_backward(const MixerRun& run, const MixerChunk& chunk, ConstMat phi, Mat dphi,
                             Mat dq, float* grads) {
  backward(run, chunk, chunk.q, kQuerySite, phi, dphi, dq, grads);
}

void phi_of_keys(const MixerRun& run, const MixerChunk& chunk, Mat keys) {
  forward(run, chunk, chunk.k, kKeySite, keys);
}

void phi_of_keys_backward(const MixerRun& run, const MixerChunk& chunk, Mat dkeys, Mat dk,
                          float* grads) {
  backward(run, chunk, chunk.k, kKeySite, chunk.keys, dkeys, dk, grads);
}

void quotient_backward(const MixerRun& run, int64_t rows, int64_t h, ConstMat saved, ConstMat y,
                       ConstMat dy, Mat dn, float* e) {
  const int64_t D = run.plan.head;
  Arena::Scope scope(run.scratch);
  float* inverse = run.scratch.take(rows);
  row_dots(rows, D, dy.columns(h * D), y.columns(h * D), e);
  for (int64_t i = 0; i < rows; ++i) {
    inverse[i] = saved.row(i)[run.plan.key_width + h];
    e[i] *= -inverse[i];
  }
  scale_rows(rows, D, dy.columns(h * D), inverse, dn);
}

void kernel_reference(const MixerPlan& plan, const Complex* params, int64_t T, const Complex* q,
                      const Complex* k, const Complex* v, const std::vector<Complex>& log_decay,
                      Complex* y) {
  const auto F = static_cast<size_t>(plan.phi.out);
  const int64_t C = plan.width, D = plan.head;
  for (int64_t h = 0; h < plan.heads; ++h) {
    std::vector<Complex> u(F), w(F * static_cast<size_t>(T));
    for (int64_t j = 0; j < T; ++j) {
      chain_reference(plan.phi, params, h, k + j * C + h * D, w.data() + j * plan.phi.out);
    }
    for (int64_t i = 0; i < T; ++i) {
      chain_reference(plan.phi, params, h, q + i * C + h * D, u.data());
      Complex d = kKernelGuard;
      std::vector<Complex> n(static_cast<size_t>(D));
      for (int64_t j = 0; j < (plan.causal ? i + 1 : T); ++j) {
        Complex a = 0;
        for (size_t f = 0; f < F; ++f) a += u[f] * w[static_cast<size_t>(j) * F + f];
        if (!log_decay.empty())
          a *= std::exp(log_decay[static_cast<size_t>(h)] * static_cast<double>(std::abs(i - j)));
        d += a;
        for (int64_t c = 0; c < D; ++c) n[static_cast<size_t>(c)] += a * v[j * C + h * D + c];
      }
      if (plan.by_count) {
        const auto count = static_cast<double>(plan.causal ? i + 1 : T);
        d = kKernelCountEps * count * count;
        for (const Complex& x : n) d += x * x / static_cast<double>(D);
        d = std::sqrt(d);
      }
      for (int64_t c = 0; c < D; ++c) y[i * C + h * D + c] = n[static_cast<size_t>(c)] / d;
    }
  }
}

}  // namespace linnet
