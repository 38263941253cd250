// embedding.cpp -- tokens to rows and back.
#include "models/embedding.h"

#include <algorithm>
#include <cmath>

#include "kernels/activations.h"
#include "kernels/rows.h"

namespace linnet {

Sinusoids::Sinusoids(int64_t width) : width_(width) {
  const int64_t pairs = (width + 1) / 2;
  for (int64_t i = 0; i < pairs; ++i) {
    rates_.push_back(std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(width)));
  }
  for (int64_t r = 0; r < kChunk; ++r) {
    for (double rate : rates_) {
      sines_.push_back(static_cast<float>(std::sin(static_cast<double>(r) * rate)));
      cosines_.push_back(static_cast<float>(std::cos(static_cast<double>(r) * rate)));
    }
  }
}

void Sinusoids::add_to(int64_t rows, int64_t first, Mat x) const {
  const size_t pairs = rates_.size();
  std::vector<float> sine(pairs), cosine(pairs);
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t base = first + r / kChunk * kChunk;
    if (r % kChunk == 0) {
      for (size_t i = 0; i < pairs; ++i) {
        sine[i] = static_cast<float>(std::sin(static_cast<double>(base) * rates_[i]));
        cosine[i] = static_cast<float>(std::cos(static_cast<double>(base) * rates_[i]));
      }
    }
    const float* s = sines_.data() + static_cast<size_t>(r % kChunk) * pairs;
    const float* c = cosines_.data() + static_cast<size_t>(r % kChunk) * pairs;
    float* row = x.row(r);
    for (size_t i = 0; i < pairs; ++i) {
      row[2 * i] += sine[i] * c[i] + cosine[i] * s[i];
      if (2 * i + 1 < static_cast<size_t>(width_))
        row[2 * i + 1] += cosine[i] * c[i] - sine[i] * s[i];
    }
  }
}

void embed_forward(const Model& model, const Sinusoids& sinusoids, const float* params,
                   Tokens tokens, int64_t rows, int64_t first, float dropout_rate,
                   uint64_t dropout_key, Mat x) {
  const int64_t C = model.config().width, shift = model.rows(0);
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t t = first + r - shift;  // -1: CLS
    const float* from = t < 0 ? params + model.cls()
                              : params + model.embedding() + tokens[static_cast<size_t>(t)] * C;
    std::copy_n(from, C, x.row(r));
    if (t >= 0 && model.positions() >= 0) add(C, params + model.positions() + t * C, x.row(r));
    if (t >= 0) add_ngrams(model.ngrams(), params, tokens, t, x.row(r));
  }
  if (model.config().positions == "sinusoidal") {
    const int64_t skip = std::max<int64_t>(0, shift - first);  // CLS has no position
    sinusoids.add_to(rows - skip, first + skip - shift, x.rows(skip));
  }
  if (dropout_rate > 0) dropout(rows, C, x, dropout_rate, dropout_key, first);
}

void embed_backward(const Model& model, Tokens tokens, int64_t rows, int64_t first,
                    float dropout_rate, uint64_t dropout_key, Mat dx, float* grads) {
  const int64_t C = model.config().width, shift = model.rows(0);
  if (dropout_rate > 0) dropout(rows, C, dx, dropout_rate, dropout_key, first);
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t t = first + r - shift;
    float* to = t < 0 ? grads + model.cls()
                      : grads + model.embedding() + tokens[static_cast<size_t>(t)] * C;
    add(C, dx.row(r), to);
    if (t >= 0 && model.positions() >= 0) add(C, dx.row(r), grads + model.positions() + t * C);
  }
}

}  // namespace linnet
