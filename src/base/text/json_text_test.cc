#include "base/text/json_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace hespas {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kText = R"({
  "a": {"x": [1, {"deep": true}], "y\"}": 2},
  "b": "{",
  "c": -1.5
})";

Location Locate(const std::vector<std::string>& path) { return LocateJson(kText, "f.json", path); }

TEST(ParseJson, PlacesSyntaxErrors) {
  const auto parsed = ParseJson("{\n  \"a\": 1,\n  oops\n}", "f.json");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().kind->code, "E0801");
  EXPECT_EQ(parsed.error().location.line, 3u);
  EXPECT_EQ(parsed.error().location.source_line, "  oops");
}

TEST(ParseJson, EmptyAndHugeInputsAreErrorsOnly) {
  EXPECT_THAT(ParseJson(" \n", "f").error().message, HasSubstr("empty"));
  EXPECT_FALSE(ParseJson(std::string(100'000, '['), "f"));
  EXPECT_TRUE(ParseJson(std::string(100'000, '[') + std::string(100'000, ']'), "f"));
  EXPECT_FALSE(ParseJson("{\"a\": 1e999}", "f"));
  EXPECT_FALSE(ParseJson("\"\xff\"", "f"));
}

TEST(LocateJson, FindsKeysAndElements) {
  EXPECT_EQ(Locate({}).line, 1u);
  EXPECT_EQ(Locate({"a", "x", "1", "deep"}).column, 19u);
  EXPECT_EQ(Locate({"b"}).line, 3u);
  EXPECT_EQ(Locate({"c"}).line, 4u);
  EXPECT_EQ(Locate({"c"}).column, 3u);
}

TEST(LocateJson, StopsAtTheLastKnownStep) { EXPECT_EQ(Locate({"b", "nothing", "below"}).line, 3u); }

TEST(JsonObject, ChecksTypesRangesAndUnknownKeys) {
  Diagnostics diagnostics;
  const auto parsed = ParseJson(R"({"count": 0, "rate": "7 GB/s", "text": 3, "flag": true, "colour": 1})", "f");
  const JsonSource source{"", "f", &diagnostics};
  JsonObject object(source, *parsed);
  EXPECT_EQ(object.Integer("count", 1, 9), std::nullopt);
  EXPECT_EQ(object.Quantity("rate", Unit::kBytesPerSecond), 7e9);
  EXPECT_EQ(object.Text("text"), std::nullopt);
  EXPECT_EQ(object.Flag("flag"), true);
  EXPECT_EQ(object.Text("color"), std::nullopt);
  object.Require("needed");
  object.Finish();
  std::vector<std::string_view> codes;
  for (const Diagnostic& d : diagnostics.all()) codes.push_back(d.kind->code);
  EXPECT_THAT(codes, ::testing::ElementsAre("E0803", "E0803", "E0804", "E0802"));
  EXPECT_THAT(diagnostics.all().back().help, HasSubstr("`color`"));
}

TEST(LocationAt, CountsLinesAndColumns) {
  EXPECT_EQ(LocationAt("ab\ncd", "f", 3).line, 2u);
  EXPECT_EQ(LocationAt("ab\ncd", "f", 4).column, 2u);
  EXPECT_EQ(LocationAt("ab\ncd", "f", 2).line, 1u);
  EXPECT_EQ(LocationAt("", "f", 99).column, 1u);
}

}  // namespace
}  // namespace hespas
