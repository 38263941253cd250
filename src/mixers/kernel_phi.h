// kernel_phi.h -- what all kinds of kernel attention share: phi, the quotient behind it, and the
// definition.
#pragma once

#include "mixers/mixer.h"

namespace linnet {

// Keeps a result finite when every feature has vanished; far below any real denominator.
inline constexpr float kKernelGuard = 1e-6f;
inline constexpr float kKernelCountEps = 1e-6f;  // of the norm that takes the denominator's place

// Fills plan.phi and plan.key_width.
void build_phi(ParamLayout& layout, const std::string& name, MixerPlan& plan);

// phi(q) of a chunk, and dq from dphi, which is used up.
void phi_of_queries(const MixerRun& run, const MixerChunk& chunk, Mat phi);
void phi_of_queries_backward(const MixerRun& run, const MixerChunk& chunk, ConstMat phi, Mat dphi,
                             Mat dq, float* grads);
// The same of the keys: Mixer::prepare and its adjoint.
void phi_of_keys(const MixerRun& run, const MixerChunk& chunk, Mat keys);
void phi_of_keys_backward(const MixerRun& run, const MixerChunk& chunk, Mat dkeys, Mat dk,
                          float* grads);

// y = n / d of head h, with 1/d behind phi(q) in `saved`: dn = dy / d and e = dL/dd = -(dy . y) /
// d.
void quotient_backward(const MixerRun& run, int64_t rows, int64_t h, ConstMat saved, ConstMat y,
                       ConstMat dy, Mat dn, float* e);

// The definition, for tests, with weights times exp(log_decay[h] |i-j|) where given.
void kernel_reference(const MixerPlan& plan, const Complex* params, int64_t T, const Complex* q,
                      const Complex* k, const Complex* v, const std::vector<Complex>& log_decay,
                      Complex* y);

}  // namespace linnet
