// feature.h -- stages of feature maps phi of kernel attention: functions of a head's query or key.
//
// A phi is a chain of stages (chain.h). A kind of stage is a record of functions and facts. Adding
// one: write its file, add its line to features.cpp.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/arena.h"
#include "core/view.h"
#include "layers/params.h"

namespace linnet {

using Complex = std::complex<double>;

// Sizes and parameters of one stage of one layer. Head h owns columns [h*in, (h+1)*in) of x and
// [h*out, (h+1)*out) of phi.
struct FeaturePlan {
  int64_t heads = 0, in = 0, out = 0;  // H, D, F; out = 0: the kind's own choice
  bool last = true;                    // of its chain: its values are what attention sees
  int64_t rank = 0, redraw = 0;        // options of some kinds; 0: the kind's own choice
  std::string place = "[config.phi]";  // of the stage in the user's text
  std::vector<Matrix> matrices;        // [which][head]
  const Matrix& matrix(int64_t which, int64_t head) const {
    return matrices[static_cast<size_t>(which * heads + head)];
  }
};

struct FeatureRun {
  const FeaturePlan& plan;
  const Weights& weights;
  Arena& scratch;
};

struct Feature {
  std::string_view name, formula, summary, paper;
  std::string_view cost;  // a head and token
  // May stand at the end of a chain: phi(q) . phi(k) is never negative.
  bool positive;
  std::string_view options;  // that it takes, e.g. "f r"
  // Sets out and adds parameters below `name`.
  void (*build)(ParamLayout& layout, const std::string& name, FeaturePlan& plan);
  // phi [rows, H*F] of x [rows, H*D].
  void (*forward)(const FeatureRun& run, int64_t rows, ConstMat x, Mat phi);
  // dx = the input gradient, parameters' gradients +=; dphi is used up.
  void (*backward)(const FeatureRun& run, int64_t rows, ConstMat x, ConstMat phi, Mat dphi, Mat dx,
                   float* grads);
  // Where phi(x) = activate(x W) for W = matrix 0 and W is at most as wide as a head, inference
  // folds W into the projection in front. x then holds x W, head h from column h*D. Null: nothing
  // to fold.
  void (*activate)(const FeatureRun& run, int64_t rows, ConstMat x, Mat phi);
  // The definition for one head, x [D] to phi [F], for tests.
  void (*reference)(const FeaturePlan& plan, const Complex* params, int64_t head, const Complex* x,
                    Complex* phi);
};

std::span<const Feature* const> features();
// The kind of that name, or an Error that lists the names.
const Feature& find_feature(std::string_view name);

}  // namespace linnet
