// model_folder_test.cpp -- a model survives the disk; a folder that does not fit its config is
// refused by name.
#include "models/model_folder.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/error.h"
#include "core/file.h"
#include "models/safetensors.h"

namespace linnet {
namespace {

class ModelFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::path(testing::TempDir()) / ("linnet_folder_" + std::to_string(getpid()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string error_of_load() const {
    try {
      load_model(folder_);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  std::filesystem::path folder_;
};

// A folder that was deleted meanwhile is no place for a part of a run.
TEST_F(ModelFolderTest, TheFolderMustBeThere) {
  const Model model{ModelConfig()};
  const Block values = Parameters::initial(model, 5);
  std::filesystem::remove_all(folder_);
  EXPECT_THROW(save_model(folder_, model, values.data(), ""), Error);
  EXPECT_FALSE(std::filesystem::exists(folder_));
}

TEST_F(ModelFolderTest, RoundTripIsExact) {
  ModelConfig config;
  config.ngrams = 2;
  config.ngram_buckets = 77;
  const Model model(config);
  Block values = Parameters::initial(model, 5);
  for (int64_t i = model.ngrams().weight; i < values.size(); ++i)  // not the zeros of the start
    values.data()[i] = static_cast<float>(i);
  save_model(folder_, model, values.data(), "card\n");
  const LoadedModel loaded = load_model(folder_);
  EXPECT_EQ(loaded.config.ngrams, 2);
  for (const ParamSpec& spec : model.layout().specs()) {
    for (int64_t i = 0; i < spec.size(); ++i) {
      ASSERT_EQ(loaded.values.data()[spec.offset + i], values.data()[spec.offset + i]) << spec.name;
    }
  }
  EXPECT_EQ(read_file(folder_ / "README.md", 100), "card\n");
}

// What a causal model knows from the left, a model that looks both ways begins with.
TEST_F(ModelFolderTest, AScanOfBothSidesBeginsWithTheLeftOfACausalOne) {
  ModelConfig config;
  config.mixer = "scan";
  config.pool = "mean";
  const Model both(config);
  config.causal = true;
  const Model causal(config);
  const Block learned = Parameters::initial(causal, 5), drawn = Parameters::initial(both, 1);
  save_model(folder_, causal, learned.data(), "");
  const Block values = initial_values(both, 1, folder_);
  for (const ParamSpec& spec : both.layout().specs()) {
    if (!spec.name.ends_with("scan_weight")) continue;
    const auto& theirs = causal.layout().specs();
    const auto left = std::find_if(theirs.begin(), theirs.end(),
                                   [&](const ParamSpec& s) { return s.name == spec.name; });
    for (int64_t i = 0; i < spec.size(); ++i) {
      const float* from =
          i < left->size() ? learned.data() + left->offset : drawn.data() + spec.offset;
      ASSERT_EQ(values.data()[spec.offset + i], from[i]) << spec.name << " " << i;
    }
  }
}

TEST_F(ModelFolderTest, MisfitsAreNamed) {
  EXPECT_NE(error_of_load().find("config.json"), std::string::npos);
  const Model model{ModelConfig{}};
  const Block values = Parameters::initial(model, 5);
  save_model(folder_, model, values.data(), "");

  write_file(folder_ / "config.json", R"({"blocks": 3})");
  EXPECT_NE(error_of_load().find("blocks.2.norm1.weight is missing"), std::string::npos)
      << error_of_load();
  write_file(folder_ / "config.json", R"({"blocks": 1})");
  EXPECT_NE(error_of_load().find("is not part of the model"), std::string::npos) << error_of_load();
  write_file(folder_ / "config.json", R"({"hidden": 128})");
  EXPECT_NE(error_of_load().find("blocks.0.ffn.in.weight has another shape"), std::string::npos)
      << error_of_load();
  write_file(folder_ / "config.json", R"({"ngrams": 2})");
  EXPECT_NE(error_of_load().find("embed.ngrams is missing"), std::string::npos) << error_of_load();
  // A config that would need terabytes is refused by the directory, before memory is asked for.
  write_file(folder_ / "config.json",
             R"({"vocab": 16777216, "width": 65536, "heads": 1, "hidden": 1048576})");
  EXPECT_NE(error_of_load().find("another shape"), std::string::npos) << error_of_load();

  write_file(folder_ / "config.json", "{}");
  const std::string file = read_file(folder_ / "model.safetensors", size_t{1} << 30);
  write_file(folder_ / "model.safetensors", file.substr(0, file.size() - 1));
  EXPECT_NE(error_of_load().find("model.safetensors"), std::string::npos) << error_of_load();
}

}  // namespace
}  // namespace linnet
