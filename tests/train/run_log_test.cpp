// run_log_test.cpp -- metrics.jsonl read again: figures, null for what was not finite, wrong lines.
#include "train/run_log.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "core/error.h"

namespace linnet {
namespace {

RunLog read(const std::string& text) {
  std::istringstream lines(text);
  return read_run_log(lines, "f");
}

constexpr const char* kStep = R"({"step":1,"loss":2.0,"tokens":9,"seconds":0.5,"tokens_per_s":18})";
constexpr const char* kLook =
    R"({"step":2,"seconds":0.75,"validation_loss":0.5,"validation_accuracy":null})";

TEST(RunLog, KnowsStepsAndLooks) {
  const RunLog log = read(std::string(kStep) + "\n" + R"({"step":2,"loss":4.0,"seconds":1})" +
                          "\n" + kLook + "\n" + kLook + "\n" + kStep + "\n" + kLook + "\n");
  ASSERT_EQ(log.steps.size(), 3u);
  ASSERT_EQ(log.looks.size(), 3u);
  EXPECT_EQ(log.steps[0].tokens_per_s, 18);
  EXPECT_TRUE(std::isnan(log.steps[1].tokens));
  EXPECT_EQ(log.looks[0].step, 2);
  EXPECT_EQ(log.looks[0].seconds, 0.75);
  EXPECT_TRUE(std::isnan(log.looks[0].validation_accuracy));
  EXPECT_EQ(log.mean_loss_before(0), 3);
  EXPECT_EQ(log.mean_loss_before(1), 0);
  EXPECT_EQ(log.mean_loss_before(2), 2);
  EXPECT_TRUE(read("").steps.empty());
}

TEST(RunLog, AWrongLineIsNamed) {
  for (const char* line : {"", "[]", "5", "{", "{}", "{\"loss\":\"x\"}", "{\"validation_loss\":1}",
                           "{\"validation_loss\":1,\"step\":1.5}", "{\"loss\":1,\"seconds\":[]}"}) {
    try {
      read(std::string(kStep) + "\n" + line + "\n");
      FAIL() << line;
    } catch (const Error& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("[f:2] ")) << error.what();
    }
  }
}

}  // namespace
}  // namespace linnet
