// wide_table_test.cpp -- ids and sums by the definition, of texts and pairs, beside any deep part,
// and errors of the config.
#include "models/wide_table.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "models/ngram_table.h"
#include "tests/models/side_part.h"
#include "tests/models/small_model.h"

namespace linnet {
namespace {

// The definition, n-gram by n-gram from its first token on.
std::set<uint32_t> ids_of(Tokens tokens, int64_t longest, int64_t bits) {
  std::set<uint32_t> ids;
  for (size_t first = 0; first < tokens.size(); ++first) {
    uint64_t h = 0;
    for (size_t k = 1; k <= static_cast<size_t>(longest) && first + k <= tokens.size(); ++k) {
      h = h * 0x9E3779B97F4A7C15u + hash_token(tokens[first + k - 1]);
      ids.insert(static_cast<uint32_t>(h >> (64 - bits)));
    }
  }
  return ids;
}

TEST(WideTableTest, IdsAreThoseOfTheDefinition) {
  std::vector<uint32_t> ids = {7};  // what was there goes
  for (const int64_t T : {1, 2, 3, 200}) {
    const std::vector<int32_t> tokens = random_tokens(T, static_cast<uint64_t>(T));
    for (const int64_t longest : {1, 2, 3, 8}) {
      for (const int64_t bits : {1, 5, 22}) {
        wide_ngrams(std::vector<Tokens>{tokens}, longest, bits, ids);
        const std::set<uint32_t> want = ids_of(tokens, longest, bits);
        EXPECT_EQ(ids, std::vector<uint32_t>(want.begin(), want.end())) << longest << " " << bits;
      }
    }
  }
}

// What both texts have, by 32 bits of the hashes.
std::set<uint32_t> shared_ids(Tokens a, Tokens b, int64_t longest, int64_t bits) {
  const std::set<uint32_t> of_b = ids_of(b, longest, 32);
  std::set<uint32_t> ids;
  for (const uint32_t id : ids_of(a, longest, 32)) {
    if (of_b.contains(id)) ids.insert(id >> (32 - bits));
  }
  return ids;
}

TEST(WideTableTest, OfTwoTextsWhatBothHave) {
  std::vector<uint32_t> ids = {7};
  const std::vector<int32_t> text = random_tokens(50, 1), other = random_tokens(20, 2),
                             third = random_tokens(1, 3), apart = {99, 98, 97};
  for (const auto& b : {other, third, apart, text}) {
    const std::set<uint32_t> want = shared_ids(text, b, 3, 22);
    EXPECT_EQ(want.empty(), b == apart);
    for (const std::vector<Tokens>& both : {std::vector<Tokens>{text, b}, {b, text}}) {
      wide_ngrams(both, 3, 22, ids);
      EXPECT_EQ(ids, std::vector<uint32_t>(want.begin(), want.end()));
      wide_ngrams(both, 3, 1, ids);  // a small table makes nothing shared
      EXPECT_EQ(ids.empty(), b == apart);
      EXPECT_LE(ids.size(), 2u);
    }
  }
}

ModelConfig wide_config(int64_t classes) {
  ModelConfig config = small_config("kernel", "softplus", false);
  config.classes = classes;
  config.wide = 3;
  config.wide_bits = 7;
  return config;
}

// By the definition, beside the deep part: of texts or of pairs of them.
void check_added(const ModelConfig& config) {
  const Model model(config);
  const int64_t classes = config.classes, columns = classes == 2 ? 1 : classes;
  ASSERT_EQ(model.wide().columns, columns);
  Block values = Parameters::initial(model, 3);
  Random random(5);
  std::vector<float> table(static_cast<size_t>(128 * columns));
  for (float& x : table) x = static_cast<float>(random.normal());
  std::copy(table.begin(), table.end(), values.data() + model.wide().weight);
  std::vector<std::vector<int32_t>> texts;
  for (int i = 0; i < 8; ++i)
    texts.push_back(random_tokens(1 + 40 * i, 9 + static_cast<uint64_t>(i)));
  const auto towers = static_cast<size_t>(model.sequences());
  const std::vector<float> added = added_by_sides(model, values, texts);
  ASSERT_EQ(added.size(), texts.size() / towers * static_cast<size_t>(classes));
  for (size_t i = 0; i < texts.size() / towers; ++i) {
    std::vector<double> sums(static_cast<size_t>(classes));
    for (const uint32_t id :
         towers == 1 ? ids_of(texts[i], 3, 7) : shared_ids(texts[2 * i], texts[2 * i + 1], 3, 7)) {
      for (int64_t c = 0; c < columns; ++c)
        sums[static_cast<size_t>(classes - columns + c)] +=
            table[static_cast<size_t>(id * columns + c)];
    }
    for (size_t c = 0; c < sums.size(); ++c)
      EXPECT_NEAR(added[i * sums.size() + c], sums[c], 1e-5) << i << " " << c;
  }
}

TEST(WideTableTest, AddsToTheLogitsOfTheDeepPart) {
  for (const int64_t classes : {2, 5}) {
    ModelConfig config = wide_config(classes);
    check_added(config);
    config.task = "match";
    check_added(config);
    config.length = 100;
    config.positions = "learned";
    config.wide_length = 400;  // the wide part reads on
    check_added(config);
  }
}

std::string refusal(const ModelConfig& config) {
  try {
    check_config(config);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(WideTableTest, ConfigIsChecked) {
  ModelConfig config = wide_config(3);
  EXPECT_EQ(refusal(config), "");
  config.loss = "sigmoid";
  EXPECT_EQ(refusal(config),
            "[config.wide] a wide part is for texts with one label: must be 0 here");
  config = wide_config(3);
  config.task = "tokens";
  config.pool = "none";
  EXPECT_EQ(refusal(config),
            "[config.wide] a wide part is for texts with one label: must be 0 here");
  config = wide_config(1000);
  config.wide_bits = 20;
  EXPECT_EQ(refusal(config),
            "[config.wide_bits] 2^20 weights for each of 1000 classes are too many");
  config = wide_config(3);
  config.wide = kMostNgrams + 1;
  EXPECT_NE(refusal(config).find("[config.wide]"), std::string::npos);
}

}  // namespace
}  // namespace linnet
