// gated_scan.h -- running sums over the rows of a matrix, of which every row says how much it
// forgets.
#pragma once

#include <cstdint>

#include "core/view.h"

namespace linnet {

// For each row r in turn, with b and h [cols]:
//   h = h - e[r,:] * h + b * v[r,:],   out[r,:] = h.
// A leading dimension below zero goes through the rows from the last to the first. out may be v.
void gated_scan(int64_t rows, int64_t cols, const float* b, ConstMat e, ConstMat v, float* h,
                Mat out) noexcept;

// From the last row to the first, with h as it was before the first, `out` as above, and l [cols]
// on entry what is owed to h after the last:
//   l += dout[r,:],   dv[r,:] = b * l,   de[r,:] = -l * out[r-1,:],   l -= e[r,:] * l
// where out[-1,:] is h, so that l is in the end what is owed to h before the first. dv may be dout.
void gated_scan_backward(int64_t rows, int64_t cols, const float* b, ConstMat e, const float* h,
                         ConstMat out, ConstMat dout, float* l, Mat dv, Mat de) noexcept;

}  // namespace linnet
