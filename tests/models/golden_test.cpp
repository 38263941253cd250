// golden_test.cpp -- logits, loss and every gradient against vectors that PyTorch made
// (tests/oracle/make_golden.py).
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "models/inference.h"
#include "models/model_folder.h"
#include "models/safetensors.h"
#include "train/trainer.h"

namespace linnet {
namespace {

std::filesystem::path golden_folder() {
  const char* root = std::getenv("LINNET_ROOT");
  return std::filesystem::path(root ? root : ".") / "tests" / "golden";
}

std::vector<std::string> golden_cases() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(golden_folder())) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<float> read(const SafetensorsFile& file, const std::string& name) {
  const auto it = file.tensors().find(name);
  EXPECT_NE(it, file.tensors().end()) << name;
  int64_t size = 1;
  for (int64_t dim : it->second.shape) size *= dim;
  std::vector<float> values(static_cast<size_t>(size));
  file.read(name, values.data(), it->second.shape);
  return values;
}

double norm(const std::vector<float>& x) {
  double sum = 0;
  for (float v : x) sum += static_cast<double>(v) * v;
  return std::sqrt(sum);
}

// From a row of zeros and ones.
std::vector<int32_t> true_classes(std::span<const float> row) {
  std::vector<int32_t> classes;
  for (size_t c = 0; c < row.size(); ++c) {
    if (row[c] > 0) classes.push_back(static_cast<int32_t>(c));
  }
  return classes;
}

struct Golden {
  LoadedModel loaded;
  Model model;
  SafetensorsFile file;
  std::vector<Example> examples;
  std::vector<Tokens> sequences;
  std::vector<const Example*> batch;

  explicit Golden(const std::string& name)
      : loaded(load_model(golden_folder() / name)),
        model(loaded.config),
        file(SafetensorsFile::open(golden_folder() / name / "golden.safetensors")) {
    const auto tokens = read(file, "tokens"), lengths = read(file, "lengths"),
               labels = read(file, "labels");
    auto at = tokens.begin();
    std::vector<std::vector<int32_t>> rows;
    for (float length : lengths) {
      rows.emplace_back(at, at + static_cast<int64_t>(length));
      at += static_cast<int64_t>(length);
    }
    const auto towers = static_cast<size_t>(model.sequences());
    auto target = labels.begin();
    for (size_t i = 0; i < rows.size(); i += towers) {
      examples.push_back({.tokens = rows[i],
                          .other = towers == 2 ? rows[i + 1] : std::vector<int32_t>{},
                          .label = static_cast<int>(labels[i / towers])});
      if (model.many_labels()) {
        const size_t classes = static_cast<size_t>(model.config().classes);
        examples.back().targets =
            true_classes(std::span(labels).subspan(i / towers * classes, classes));
      }
      if (!model.of_tokens()) continue;
      const auto n = static_cast<int64_t>(rows[i].size());
      examples.back().targets.assign(target, target + n);
      target += n;
    }
    for (const Example& e : examples) {
      batch.push_back(&e);
      sequences.emplace_back(e.tokens);
      if (towers == 2) sequences.emplace_back(e.other);
    }
  }
};

class GoldenTest : public testing::TestWithParam<std::string> {
 protected:
  // Every gradient within 1e-4 of its norm; those that are zero but for rounding within 1e-6 of the
  // whole.
  static void expect_gradients(const Golden& golden, const Trainer& trainer) {
    const Block grads = trainer.copy_grads();
    double whole = 0;
    for (const ParamSpec& spec : golden.model.layout().specs()) {
      whole = std::hypot(whole, norm(read(golden.file, "grad." + spec.name)));
    }
    for (const ParamSpec& spec : golden.model.layout().specs()) {
      const std::vector<float> want = read(golden.file, "grad." + spec.name);
      std::vector<float> difference(want.size());
      for (size_t i = 0; i < want.size(); ++i) {
        difference[i] = grads.data()[spec.offset + static_cast<int64_t>(i)] /
                            static_cast<float>(trainer.pending()) -
                        want[i];
      }
      const double size = norm(want);
      EXPECT_LE(norm(difference), 1e-4 * (size < 1e-5 * whole ? 1e-2 * whole : size)) << spec.name;
    }
  }
};

TEST_P(GoldenTest, LogitsLossAndGradients) {
  Context context(2);
  Golden golden(GetParam());
  const std::vector<float> want = read(golden.file, "logits");
  double largest = 0;
  for (float x : want) largest = std::max<double>(largest, std::abs(x));
  Block values(golden.loaded.values.size());
  std::copy_n(golden.loaded.values.data(), values.size(), values.data());
  Inference inference(context, golden.model, std::move(values));
  const std::vector<float> got = golden.model.of_tokens()
                                     ? inference.all_token_logits(golden.sequences)
                                     : inference.logits(golden.sequences);
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-5 * largest);

  for (bool recompute : {false, true}) {
    Block start(golden.loaded.values.size());
    std::copy_n(golden.loaded.values.data(), start.size(), start.data());
    Trainer trainer(context, golden.model, std::move(start),
                    {.optimizer = {}, .recompute = recompute});
    const StepResult result = trainer.accumulate(golden.batch);
    EXPECT_NEAR(result.loss, read(golden.file, "loss")[0], 1e-5 * result.loss);
    expect_gradients(golden, trainer);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, GoldenTest, testing::ValuesIn(golden_cases()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace linnet
