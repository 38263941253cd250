// arena_spec_test.cpp -- the file of an arena: rows with settings of their own, and what is
// refused.
#include "train/arena_spec.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace linnet {
namespace {

std::string fault(const std::string& text) {
  try {
    const ArenaSpec spec = parse_arena_spec(text, "f.json");
    for (const ArenaRow& row : spec.rows) arena_model("desk", "listops", spec.settings, row);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(ArenaSpecTest, RowsHaveSettingsOverThoseOfAllOverTheProfile) {
  const ArenaSpec spec = parse_arena_spec(
      R"({"name":"n","profile":"desk","tasks":["listops"],"seeds":3,"data":{"listops":"here"},
          "settings":{"steps":300,"blocks":3},
          "rows":{"deep":{"row":"2xoglu","blocks":6,"lr":0.001},"scan":{}}})",
      "f.json");
  EXPECT_EQ(spec.name, "n");
  EXPECT_EQ(spec.seeds, 3);
  EXPECT_EQ(spec.data.at("listops"), "here");
  ASSERT_EQ(spec.rows.size(), 2u);
  EXPECT_EQ(spec.rows[1].row, "scan");  // its own name
  const ArenaModel deep = arena_model("desk", "listops", spec.settings, spec.rows[0]);
  EXPECT_EQ(deep.config.phi, "2xoglu");
  EXPECT_EQ(deep.config.blocks, 6);
  EXPECT_EQ(deep.settings.steps, 300);
  EXPECT_EQ(deep.settings.lr, 0.001);
  const ArenaModel scan = arena_model("desk", "listops", spec.settings, spec.rows[1]);
  EXPECT_EQ(scan.config.mixer, "scan");
  EXPECT_EQ(scan.config.blocks, 3);
  EXPECT_TRUE(parse_arena_spec("{}", "f.json").rows.empty());
}

TEST(ArenaSpecTest, FaultsNameTheField) {
  for (const auto& [text, words] :
       {std::pair("[]", "[arena] must be a JSON object"), std::pair("{\"row\":{}}", "[arena.row]"),
        std::pair("{\"seeds\":0}", "[arena.seeds] must be 1 to 1000"),
        std::pair("{\"tasks\":\"x\"}", "[arena.tasks] must be a list of texts"),
        std::pair("{\"data\":{\"text\":1}}", "[arena.data.text] must be a text"),
        std::pair("{\"rows\":[]}", "[arena.rows] must be a JSON object"),
        std::pair("{\"rows\":{\"a b\":{}}}", "A-Z a-z 0-9 . _ -"),
        std::pair("{\"rows\":{\"x/../../../victim\":{\"row\":\"scan\"}}}",
                  "[f.json] [arena.rows.x/"),
        std::pair("{\"rows\":{\"..\":{\"row\":\"scan\"}}}", "is not . or .."),
        std::pair("{\"rows\":{\"a\":{\"row\":\"scan\",\"depth\":1}}}", "[arena.rows.a.depth]"),
        std::pair("{\"rows\":{\"a\":{\"row\":\"scan\",\"classes\":1}}}", "[arena.rows.a.classes]"),
        std::pair("{\"rows\":{\"scan\":{\"blocks\":\"x\"}}}", "[config.blocks]"),
        std::pair("{\"rows\":{\"scan\":{}},\"settings\":{\"lrr\":1}}", "[arena.settings.lrr]"),
        std::pair("{\"rows\":{\"nothing\":{}}}", "no such row"),
        std::pair("{\"rows\":{\"a\":{\"b\":{\"c\":{}}}}}", "as deep as that")})
    EXPECT_NE(fault(text).find(words), std::string::npos) << text << ": " << fault(text);
  EXPECT_EQ(fault("{").find("[f.json] not valid JSON"), 0u);
}

}  // namespace
}  // namespace linnet
