// decayed_sums.h -- sums of keys and values in which every row has its power of a decay g: summing
// up, looking up, and rows against the keys around them; adjoints beside.
//
// Adjoints add to the gradients, and return what their terms give to dl, l = log g: a term of power
// n adds n times (its value . its gradient).
#pragma once

#include "mixers/mixer.h"

namespace linnet {

// g^|n| for -reach <= n <= reach, and |n|: both arrays by n. Causal, a column to the right of its
// row is not looked at: there the power is 0.
struct Powers {
  double log_g;
  float *around, *distance;
  Powers(Arena& scratch, double log_of_g, int64_t reach, bool causal);
  float of(int64_t n) const { return around[-n]; }
};

// g^(from + step i) for row i < rows.
struct RowPowers {
  int64_t rows, from, step;
  float* factor;
  RowPowers(Arena& scratch, const Powers& powers, int64_t n, int64_t start, int64_t direction);
  int64_t exponent(int64_t i) const { return from + step * i; }
};

// S [F,D] and z [F] of a head, one behind the other.
struct Sums {
  float *s, *z;
};
inline int64_t sums_floats(const MixerPlan& plan) { return plan.phi.out * (plan.head + 1); }
inline Sums sums_at(const MixerPlan& plan, float* data) {
  return {data, data + plan.phi.out * plan.head};
}

// S += sum_j p_j w_j v_j^T, z += sum_j p_j w_j.
void sum_up(const MixerRun& run, const RowPowers& p, ConstMat w, ConstMat v, Sums to);
double sum_up_backward(const MixerRun& run, const RowPowers& p, ConstMat w, ConstMat v, Sums owed,
                       Mat dw, Mat dv);

// n_i += p_i S^T u_i, d_i += p_i (u_i . z).
void look_up(const MixerRun& run, const RowPowers& p, ConstMat u, Sums from, Mat n, float* d);
double look_up_backward(const MixerRun& run, const RowPowers& p, ConstMat u, Sums from, ConstMat dn,
                        const float* e, Mat du, Sums owed);

// Rows of queries and the keys of the same stretch of tokens: query row i is key row `offset` + i.
struct Inside {
  int64_t rows, keys, offset;
};

// A = (U W^T) * g^|i-j|, n += A V, d += rowsum(A).
void inside_forward(const MixerRun& run, const Inside& in, const Powers& powers, ConstMat u,
                    ConstMat w, ConstMat v, Mat n, float* d);
double inside_backward(const MixerRun& run, const Inside& in, const Powers& powers, ConstMat u,
                       ConstMat w, ConstMat v, ConstMat dn, const float* e, Mat du, Mat dw, Mat dv);

}  // namespace linnet
