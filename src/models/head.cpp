// head.cpp -- pooling and the classifier's layers, forward and backward.
#include "models/head.h"

#include <algorithm>
#include <cmath>

#include "kernels/activations.h"
#include "kernels/rows.h"

namespace linnet {
namespace {

// Rows made one before the norm.
enum class Joined { mean, max };

bool norm_comes_last(const Model& model) {
  return model.config().pool == "mean-first" || model.config().pool == "max";
}
Joined joined_by(const Model& model) {
  return model.config().pool == "max" ? Joined::max : Joined::mean;
}

// The mean or the largest of the rows, in scratch.
float* join(Joined by, int64_t rows, int64_t C, ConstMat x, Arena& scratch) {
  float* one = scratch.take_zeroed(C);
  if (by == Joined::max) {
    column_max(rows, C, x, one);
  } else {
    add_column_sums(rows, C, x, one);
    scale(C, 1.0f / static_cast<float>(rows), one);
  }
  return one;
}

// vector = LN(mean_r x_r), or LN(max_r x_r).
void joined_forward(Joined by, const LayerNorm& norm, const Weights& weights, int64_t C,
                    int64_t rows, ConstMat x, Arena& scratch, float* vector) {
  Arena::Scope scope(scratch);
  norm_forward(norm, weights, 1, {join(by, rows, C, x, scratch), 0}, {vector, 0});
}

void joined_backward(Joined by, const LayerNorm& norm, const Weights& weights, int64_t C,
                     int64_t rows, ConstMat x, const float* dvector, Mat dx, float* grads,
                     Arena& scratch) {
  Arena::Scope scope(scratch);
  const float* single = join(by, rows, C, x, scratch);
  float* dsingle = scratch.take_zeroed(C);
  norm_backward(norm, weights, 1, {single, 0}, {dvector, 0}, {dsingle, 0}, grads);
  if (by == Joined::max) return column_max_backward(rows, C, x, single, dsingle, dx);
  for (int64_t r = 0; r < rows; ++r)
    add_scaled(C, 1.0f / static_cast<float>(rows), dsingle, dx.row(r));
}

}  // namespace

RowRange pooled_rows(const Model& model, int64_t rows) {
  const std::string& pool = model.config().pool;
  if (pool == "cls") return {0, 1};
  return pool == "last" ? RowRange{rows - 1, rows} : RowRange{0, rows};
}

RowRange answered_rows(const Model& model, size_t layer, int64_t rows) {
  if (layer + 1 < model.blocks().size() || model.config().causal) return {0, rows};
  return pooled_rows(model, rows);
}

void pool_forward(const Model& model, const Weights& weights, int64_t rows, ConstMat x,
                  Arena& scratch, float* vector) {
  const int64_t C = model.config().width;
  if (norm_comes_last(model))
    return joined_forward(joined_by(model), model.final_norm(), weights, C, rows, x, scratch,
                          vector);
  Arena::Scope scope(scratch);
  std::fill_n(vector, C, 0.0f);
  const Mat h = take_mat(scratch, std::min(kChunk, rows), C);
  for (int64_t at = 0; at < rows; at += kChunk) {
    const int64_t n = std::min(kChunk, rows - at);
    norm_forward(model.final_norm(), weights, n, x.rows(at), h);
    add_column_sums(n, C, h, vector);
  }
  scale(C, 1.0f / static_cast<float>(rows), vector);
}

void pool_backward(const Model& model, const Weights& weights, int64_t rows, ConstMat x,
                   const float* dvector, Mat dx, float* grads, Arena& scratch) {
  const int64_t C = model.config().width;
  if (norm_comes_last(model))
    return joined_backward(joined_by(model), model.final_norm(), weights, C, rows, x, dvector, dx,
                           grads, scratch);
  Arena::Scope scope(scratch);
  float* dh = scratch.take_zeroed(C);
  add_scaled(C, 1.0f / static_cast<float>(rows), dvector, dh);
  norm_backward(model.final_norm(), weights, rows, x, {dh, 0}, dx, grads);
}

void bag_forward(const Model& model, const Weights& weights, int64_t rows, ConstMat x,
                 Arena& scratch, float* vector) {
  const int64_t C = model.config().width, skip = model.rows(0);
  if (model.config().bag)
    joined_forward(Joined::mean, model.bag_norm(), weights, C, rows - skip, x.rows(skip), scratch,
                   vector + C);
}

void bag_backward(const Model& model, const Weights& weights, int64_t rows, ConstMat x,
                  const float* dvector, Mat dx, float* grads, Arena& scratch) {
  const int64_t C = model.config().width, skip = model.rows(0);
  if (model.config().bag)
    joined_backward(Joined::mean, model.bag_norm(), weights, C, rows - skip, x.rows(skip),
                    dvector + C, dx.rows(skip), grads, scratch);
}

namespace {

bool compares(const Model& model) {
  return model.sequences() == 2 && model.config().pair != "concat";
}

bool by_distance(const Model& model) { return model.config().pair == "distance"; }

// u, v side by side to u, v, u v, u - v; by distance: |u - v|.
const float* pair_forward(bool distance, int64_t C, const float* vectors, Arena& keep) {
  float* joined = keep.take(4 * C);
  std::copy_n(vectors, 2 * C, joined);
  for (int64_t c = 0; c < C; ++c) {
    const float difference = vectors[c] - vectors[C + c];
    joined[2 * C + c] = vectors[c] * vectors[C + c];
    joined[3 * C + c] = distance ? std::abs(difference) : difference;
  }
  return joined;
}

void pair_backward(bool distance, int64_t C, const float* vectors, const float* djoined,
                   float* dvectors) {
  for (int64_t c = 0; c < C; ++c) {
    const float product = djoined[2 * C + c];
    // |u - v|: of equal ones 0, as everywhere in the field.
    const float difference = vectors[c] - vectors[C + c];
    const float sign = distance ? static_cast<float>((difference > 0) - (difference < 0)) : 1;
    const float ddifference = sign * djoined[3 * C + c];
    dvectors[c] = djoined[c] + product * vectors[C + c] + ddifference;
    dvectors[C + c] = djoined[C + c] + product * vectors[c] - ddifference;
  }
}

}  // namespace

HeadTape head_forward(const Model& model, const Weights& weights, const float* vectors, Arena& keep,
                      float* logits) {
  if (compares(model))
    vectors = pair_forward(by_distance(model), model.vector_width(), vectors, keep);
  HeadTape tape{vectors};
  for (const Linear& linear : model.head()) {
    const bool last = &linear == &model.head().back();
    float* out = last ? logits : keep.take(linear.out());
    linear_forward(linear, weights, 1, {vectors, 0}, {out, 0});
    if (last) break;
    tape.push_back(out);
    float* activated = keep.take(linear.out());
    gelu_forward(1, linear.out(), {out, 0}, {activated, 0});
    vectors = activated;
  }
  return tape;
}

void head_backward(const Model& model, const Weights& weights, const HeadTape& tape,
                   const float* dlogits, float* dvectors, float* grads, Arena& scratch) {
  Arena::Scope scope(scratch);
  const float* dy = dlogits;
  for (size_t i = tape.size(); i-- > 0;) {
    // p_i = gelu(p_{i-1}) W_i + b_i; the first layer takes its input as it is.
    const Linear& linear = model.head()[i];
    float* dx = i == 0 && !compares(model) ? dvectors : scratch.take(linear.in());
    linear_backward_input(linear, weights, 1, {dy, 0}, {dx, 0});
    const float* in = tape[i];
    if (i > 0) {
      float* activated = scratch.take(linear.in());
      gelu_backward(1, linear.in(), {in, 0}, {dx, 0}, {activated, 0}, {dx, 0});
      in = activated;
    }
    linear_backward_weights(linear, 1, {in, 0}, {dy, 0}, grads, scratch);
    dy = dx;
  }
  if (compares(model))
    pair_backward(by_distance(model), model.vector_width(), tape[0], dy, dvectors);
}

}  // namespace linnet
