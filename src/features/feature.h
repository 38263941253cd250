// feature.h -- feature maps phi of kernel attention: positive functions of a head's query or key.
//
// A kind is a record of functions and facts. Adding one: write its file, add its line to
// features.cpp.
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

// Sizes and parameters of one phi of one layer. Head h owns columns [h*in, (h+1)*in) of x, [h*out,
// ...) of phi.
struct FeaturePlan {
  int64_t heads = 0, in = 0, out = 0;  // H, D, F
  std::vector<Matrix> matrices;
};

struct Feature {
  std::string_view name, formula, summary, paper;
  // Sets out (0: the kind's own choice, D) and adds parameters below `name`.
  void (*build)(ParamLayout& layout, const std::string& name, FeaturePlan& plan);
  // phi [rows, H*F] of x [rows, H*D].
  void (*forward)(const FeaturePlan& plan, const Weights& weights, int64_t rows, ConstMat x,
                  Mat phi);
  // dx = the input gradient, parameters' gradients +=; dphi is used up.
  void (*backward)(const FeaturePlan& plan, const Weights& weights, int64_t rows, ConstMat x,
                   ConstMat phi, Mat dphi, Mat dx, float* grads, Arena& scratch);
  // At inference the first product folds into the projection in front: phi(x W' + b') with
  // W' = W phi.W, b' = b phi.W. fold does that to `weight` [in_rows, H*D] and `bias` in place (F =
  // D), activate is what remains of phi. Both null where there is nothing to fold.
  void (*fold)(const FeaturePlan& plan, const float* params, int64_t in_rows, float* weight,
               float* bias);
  void (*activate)(const FeaturePlan& plan, int64_t rows, ConstMat x, Mat phi);
  // The definition for one head, x [D] to phi [F], for tests.
  void (*reference)(const FeaturePlan& plan, const Complex* params, int64_t head, const Complex* x,
                    Complex* phi);
};

std::span<const Feature* const> features();
// The kind of that name, or an Error that lists the names.
const Feature& find_feature(std::string_view name);

}  // namespace linnet
