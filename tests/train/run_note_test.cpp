// run_note_test.cpp -- the note of a checkpoint is what a run can have written, or an Error that
// names the field.
#include "train/run_note.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"

namespace linnet {
namespace {

constexpr NoteLimits kLimits{.steps = 20, .evaluations = 5, .records = 100, .log_bytes = 3000};

RunNote some_note() {
  RunNote note;
  note.state = {.tokens = 4000,
                .evaluations = 3,
                .best_evaluation = 2,
                .epochs = 1.5,
                .seconds = 2.5,
                .best = 0.75,
                .best_loss = 0.5,
                .log_bytes = 2000,
                .wide_figures = {{"loss", 0.25}, {"roc_auc", NAN}}};
  note.position = {.epoch = 1, .record = 40, .batch = 3, .examples = 30};
  return note;
}

std::string fault(const std::string& text) {
  try {
    parse_note(text, "f", kLimits);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}
std::string fault_with(const std::string& name, const nlohmann::json& value) {
  nlohmann::json json = nlohmann::json::parse(note_text(some_note()));
  json[name] = value;
  return fault(json.dump());
}

TEST(RunNote, ComesBackAsItWas) {
  const RunNote before = some_note(), after = parse_note(note_text(before), "f", kLimits);
  EXPECT_EQ(note_text(after), note_text(before));
  EXPECT_EQ(after.position, before.position);
  EXPECT_TRUE(std::isnan(after.state.wide_figures[1].second));
  RunNote nothing;
  const RunNote read = parse_note(note_text(nothing), "f", {});
  EXPECT_TRUE(std::isnan(read.state.best));
  // A figure that was not finite is not taken for 0, which no look would ever be better than.
  nothing.state.best_loss = NAN;
  EXPECT_TRUE(std::isnan(parse_note(note_text(nothing), "f", {}).state.best_loss));
}

TEST(RunNote, EveryFieldIsChecked) {
  const nlohmann::json all = nlohmann::json::parse(note_text(some_note()));
  const std::vector<nlohmann::json> wrong = {
      -1,     INT64_MIN, INT64_MAX, UINT64_MAX, int64_t{1} << 41,         -0.5,
      -1e300, true,      "x",       "",         nlohmann::json::object(), {{"a", 1}}};
  for (const auto& [name, value] : all.items()) {
    for (const nlohmann::json& other : wrong) {
      const bool figure = name.starts_with("best") && name != "best_evaluation";
      if (figure && other.is_number() && other.get<double>() > 0)
        continue;  // a look may have had it
      const std::string found = fault_with(name, other);
      EXPECT_TRUE(found.starts_with("[f] [checkpoint." + name + "] ")) << other << ": " << found;
    }
    if (name.starts_with("best") && name != "best_evaluation") {
      EXPECT_EQ(fault_with(name, nullptr), "");
    } else {
      EXPECT_NE(fault_with(name, nullptr), "") << name;
    }
  }
}

TEST(RunNote, NothingIsBeyondTheRun) {
  const std::vector<std::pair<const char*, nlohmann::json>> beyond = {
      {"tokens", 19},
      {"evaluations", 6},
      {"best_evaluation", 0},
      {"best_evaluation", 4},
      {"epochs", 0.9},
      {"epochs", 2.1},
      {"seconds", 1e11},
      {"log_bytes", 3001},
      {"record", 100},
      {"batch", 0},
      {"batch", 31},
      {"epoch", 3},
      {"epoch", 0},
      {"wide_figures", {{"loss", "x"}}},
      {"wide_figures", {{"\x1b[31m", 1}}},
      {"wide_figures", {{"loss", 1, 2}}}};
  for (const auto& [name, value] : beyond) EXPECT_NE(fault_with(name, value), "") << name << value;
}

TEST(RunNote, EarlierVersionsKnewLess) {
  nlohmann::json json = nlohmann::json::parse(note_text(some_note()));
  for (const char* name : {"epochs", "examples", "wide_figures"}) json.erase(name);
  EXPECT_EQ(fault(json.dump()), "");
  for (const auto& [name, value] : json.items()) {
    nlohmann::json less = json;
    less.erase(name);
    EXPECT_NE(fault(less.dump()), "") << name;
  }
}

TEST(RunNote, OtherTextIsNoNote) {
  for (const char* text : {"", "[]", "null", "5", "{", "{}", "{\"tokens\":NaN}"})
    EXPECT_TRUE(fault(text).starts_with("[f] ")) << text;
  EXPECT_TRUE(fault(std::string(100000, '[')).starts_with("[f] "));
}

}  // namespace
}  // namespace linnet
