// adamw.h -- AdamW over one flat range of parameters.
#pragma once

#include <cstdint>

namespace linnet {

struct AdamwStep {
  float rate, beta1, beta2, eps, decay;
  float correction1, correction2;  // 1 - beta^step
  float gradient_scale;            // batch mean and clipping, in one factor
};

// g = dw scale;  m = b1 m + (1-b1) g;  v = b2 v + (1-b2) g^2;
// w -= rate ((m / c1) / (sqrt(v / c2) + eps) + decay w)        (Loshchilov and Hutter, 2019)
void adamw(int64_t n, const AdamwStep& step, const float* dw, float* w, float* m,
           float* v) noexcept;

}  // namespace linnet
