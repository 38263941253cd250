// kernel_phi.h -- what all kinds of kernel attention do with phi: building it, dropout in front of
// it, queries and keys through it.
#pragma once

#include "mixers/mixer.h"

namespace linnet {

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

}  // namespace linnet
