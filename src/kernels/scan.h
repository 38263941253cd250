// scan.h -- running sums with decays over the rows of a matrix, several in each column.
#pragma once

#include <cstdint>

#include "core/view.h"

namespace linnet {

inline constexpr int64_t kScanSums = 8;  // of a column: as many as registers hold

// Floats of scratch that scan_backward needs for so many rows.
int64_t scan_history_floats(int64_t rows) noexcept;

// For each row r in turn, with u, h and a = 1 - e [kScanSums, cols]:
//   h_n = a_n * h_n + v[r,:],   s[r,:] += sum_n u_n * h_n.
// Decays near 1 come as e: a itself, rounded, would be off by 1e-5 after some hundred rows.
// A leading dimension below zero goes through the rows from the last to the first. s may be null.
void scan(int64_t rows, int64_t cols, const float* e, const float* u, ConstMat v, float* h,
          Mat s) noexcept;

// From the last row to the first, with h as it was before the first, and l [kScanSums, cols] on
// entry what is owed to h after the last:
//   l_n += u_n * ds[r,:],   dv[r,:] += sum_n l_n,   du_n += ds[r,:] * h_n[r],
//   da_n += l_n * h_n[r-1],   l_n *= a_n
// so that l is in the end what is owed to h before the first.
void scan_backward(int64_t rows, int64_t cols, const float* e, const float* u, ConstMat v,
                   const float* h, ConstMat ds, float* l, Mat dv, float* da, float* du,
                   float* history) noexcept;

}  // namespace linnet
