// kernel_phi.cpp -- phi in front of kernel attention.
#include "mixers/kernel_phi.h"

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

}  // namespace linnet
