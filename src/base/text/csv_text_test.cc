#include "base/text/csv_text.h"

#include <gmock/gmock.h>

namespace hespas {
namespace {

using ::testing::ElementsAre;

TEST(Csv, ReadsQuotedCellsAndFillsShortRows) {
  const auto table = ParseCsv("\xEF\xBB\xBFop,b,note\r\nadd,579.0,\"a, \"\"b\"\"\nc\"\r\n\nln,3\n", "t.csv");
  ASSERT_TRUE(table.ok());
  EXPECT_THAT(table->columns, ElementsAre("op", "b", "note"));
  ASSERT_EQ(table->rows.size(), 2u);
  EXPECT_THAT(table->rows[0], ElementsAre("add", "579.0", "a, \"b\"\nc"));
  EXPECT_THAT(table->rows[1], ElementsAre("ln", "3", ""));
  EXPECT_EQ(table->lines[1], 5);
  EXPECT_EQ(table->Column("note"), 2u);
  EXPECT_FALSE(table->Column("n").has_value());
}

TEST(Csv, NamesTheLineOfADefect) {
  const auto long_row = ParseCsv("a,b\n1,2\n1,2,3\n", "t.csv");
  ASSERT_FALSE(long_row.ok());
  EXPECT_EQ(long_row.error().kind, &kCsvSyntax);
  EXPECT_EQ(long_row.error().location.line, 3u);
  EXPECT_FALSE(ParseCsv("a\n\"x\n", "t.csv").ok());
  EXPECT_FALSE(ParseCsv("", "t.csv").ok());
}

TEST(Csv, NumbersMayHaveAFraction) {
  EXPECT_EQ(CsvNumber("579.0"), 579.0);
  EXPECT_EQ(CsvNumber(" 12 "), 12.0);
  EXPECT_FALSE(CsvNumber("").has_value());
  EXPECT_FALSE(CsvNumber("1x").has_value());
  EXPECT_FALSE(CsvNumber("nan").has_value());
}

}  // namespace
}  // namespace hespas
