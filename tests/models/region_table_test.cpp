// region_table_test.cpp -- a region part beside any deep part, and errors of the config.
#include "models/region_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "tests/models/side_part.h"
#include "tests/models/small_model.h"

namespace linnet {
namespace {

ModelConfig region_config(int64_t classes) {
  ModelConfig config = small_config("kernel", "softplus", false);
  config.classes = classes;
  config.regions = 3;
  config.region_units = 128;
  config.region_rows = 11;  // of 13 tokens
  return config;
}

// The definition, unit by unit.
std::vector<double> said_by(const RegionTable& table, const float* values, Tokens tokens) {
  const auto T = static_cast<int64_t>(tokens.size()), n = std::min<int64_t>(3, T);
  std::vector<double> said(static_cast<size_t>(table.columns));
  for (int64_t c = 0; c < table.columns; ++c)
    said[static_cast<size_t>(c)] = values[table.out_bias + c];
  for (int64_t u = 0; u < 128; ++u) {
    double top = -1e30;
    for (int64_t t = 0; t + n <= T; ++t) {
      double sum = 0;
      for (int64_t p = 0; p < n; ++p) {
        const int32_t token = tokens[static_cast<size_t>(t + p)];
        const int64_t row = (u / 64 * 3 + p) * 11 + (token < 11 ? token : 0);
        sum += values[table.weight + row * 64 + u % 64];
      }
      top = std::max(top, sum);
    }
    const double hidden = std::max(0.0, top + values[table.bias + u]);
    for (int64_t c = 0; c < table.columns; ++c)
      said[static_cast<size_t>(c)] += hidden * values[table.out + u * table.columns + c];
  }
  return said;
}

// With `wide_length` a wide part, of zeros here, reads on where the region part stops, too.
void check_added(int64_t classes, int64_t wide_length) {
  ModelConfig config = region_config(classes);
  if (wide_length > 0) config.wide = 1, config.wide_length = wide_length, config.length = 100;
  const Model model(config);
  const RegionTable& table = model.regions();
  ASSERT_EQ(table.columns, classes == 2 ? 1 : classes);
  Block values = Parameters::initial(model, 3);
  Random random(5);
  std::generate_n(values.data() + table.weight, table.out_bias + table.columns - table.weight,
                  [&] { return static_cast<float>(random.normal()); });
  std::vector<std::vector<int32_t>> texts;
  for (const int64_t T : {1, 2, 3, 4, 200}) texts.push_back(random_tokens(T, 9));
  std::vector<double> want;
  for (const auto& text : texts) {
    want.resize(want.size() +
                static_cast<size_t>(classes - table.columns));  // nothing to the first of two
    for (const double x : said_by(table, values.data(), model.deep(text))) want.push_back(x);
  }
  const std::vector<float> added = added_by_sides(model, values, texts);
  ASSERT_EQ(added.size(), want.size());
  for (size_t i = 0; i < added.size(); ++i) EXPECT_NEAR(added[i], want[i], 1e-3) << i;
}

TEST(RegionTableTest, AddsToTheLogitsOfTheDeepPart) {
  for (const int64_t classes : {2, 5}) {
    check_added(classes, 0);
    check_added(classes, 400);
  }
}

TEST(RegionTableTest, ErrorsNameTheSetting) {
  const auto expect_error = [](const char* field, const auto& change) {
    ModelConfig config = region_config(2);
    change(config);
    try {
      check_config(config);
      ADD_FAILURE() << field << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find(std::string("[config.") + field + "]"), 0u)
          << error.what();
    }
  };
  expect_error("regions", [](ModelConfig& c) { c.regions = kMostRegionTokens + 1; });
  expect_error("regions", [](ModelConfig& c) { c.regions = -1; });
  expect_error("regions", [](ModelConfig& c) { c.task = "match"; });
  expect_error("regions", [](ModelConfig& c) { c.loss = "sigmoid"; });
  expect_error("region_units", [](ModelConfig& c) { c.region_units = 96; });
  expect_error("region_units", [](ModelConfig& c) { c.region_units = 0; });
  expect_error("region_units", [](ModelConfig& c) {
    c.region_units = 1024;
    c.classes = 1 << 20;
  });
  expect_error("region_rows", [](ModelConfig& c) { c.region_rows = 0; });
  expect_error("region_rows", [](ModelConfig& c) {
    c.vocab = c.region_rows = 1 << 20;
    c.region_units = 1024;
  });
}

}  // namespace
}  // namespace linnet
