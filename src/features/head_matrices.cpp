// head_matrices.cpp -- products of every head with its own matrix.
#include "features/head_matrices.h"

#include "layers/linear.h"

namespace linnet {

void add_head_matrices(ParamLayout& layout, const std::string& name, int64_t in, int64_t out,
                       const HeadInit& init, FeaturePlan& plan) {
  // Decay would pull an orthogonal matrix away from where the regulariser wants it.
  const int64_t weight =
      layout.add(name, {plan.heads, in, out}, init.init, init.gain, !init.orthogonal);
  for (int64_t h = 0; h < plan.heads; ++h) {
    plan.matrices.push_back(layout.matrix(weight + h * in * out, in, out));
    if (init.orthogonal) layout.keep_orthogonal(plan.matrices.back());
  }
}

void heads_forward(const FeatureRun& run, int64_t which, int64_t rows, ConstMat x, int64_t stride,
                   Mat y) {
  for (int64_t h = 0; h < run.plan.heads; ++h) {
    const Matrix& m = run.plan.matrix(which, h);
    matrix_forward(m, run.weights, rows, x.columns(h * stride), y.columns(h * m.out));
  }
}

void heads_forward(const FeatureRun& run, int64_t which, int64_t rows, ConstMat x, Mat y) {
  heads_forward(run, which, rows, x, run.plan.matrix(which, 0).in, y);
}

void heads_backward(const FeatureRun& run, int64_t which, int64_t rows, ConstMat x, ConstMat dy,
                    Mat dx, bool accumulate, float* grads) {
  for (int64_t h = 0; h < run.plan.heads; ++h) {
    const Matrix& m = run.plan.matrix(which, h);
    const ConstMat dyh = dy.columns(h * m.out);
    matrix_backward_weights(m, rows, x.columns(h * m.in), dyh, grads, run.scratch);
    matrix_backward_input(m, run.weights, rows, dyh, dx.columns(h * m.in), accumulate);
  }
}

void head_reference(const Matrix& matrix, const Complex* params, const Complex* x, Complex* y) {
  for (int64_t o = 0; o < matrix.out; ++o) {
    y[o] = 0;
    for (int64_t i = 0; i < matrix.in; ++i) {
      y[o] += x[i] * params[matrix.weight + i * matrix.out + o];
    }
  }
}

}  // namespace linnet
