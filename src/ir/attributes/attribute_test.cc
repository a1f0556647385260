#include "ir/attributes/attribute.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "ir/type.h"

namespace hespas::ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

TEST(Attribute, ReadsNumbers) {
  EXPECT_THAT(AsInteger("3"), Optional(3));
  EXPECT_THAT(AsInteger(" -1 : i32"), Optional(-1));
  EXPECT_THAT(AsInteger("0x10 : i64"), Optional(16));
  EXPECT_THAT(AsInteger("dense<7> : tensor<i64>"), Optional(7));
  EXPECT_THAT(AsInteger("-9223372036854775808"), Optional(std::numeric_limits<int64_t>::min()));
  for (const auto* text : {"", "x", "1.5", "3x", "99999999999999999999", "-", "0x", "1 : i64 2"}) {
    EXPECT_FALSE(AsInteger(text)) << text;
  }
  EXPECT_THAT(AsFloat("-2.5e-1 : f32"), Optional(-0.25));
  EXPECT_FALSE(AsFloat("abc"));
}

TEST(Attribute, ReadsBooleans) {
  EXPECT_THAT(AsBool(""), Optional(true));
  EXPECT_THAT(AsBool("unit"), Optional(true));
  EXPECT_THAT(AsBool("false : i1"), Optional(false));
  EXPECT_FALSE(AsBool("2"));
}

TEST(Attribute, ReadsStringsSymbolsAndEnums) {
  EXPECT_THAT(AsString(R"("a\"b\\\0A\n\41")"), Optional(std::string("a\"b\\\n\nA")));
  EXPECT_FALSE(AsString("\"open"));
  EXPECT_EQ(AsSymbol("@region_0.0.clone"), "region_0.0.clone");
  EXPECT_EQ(AsSymbol("@\"odd name\""), "odd name");
  EXPECT_EQ(AsSymbol("@\"\""), "");
  EXPECT_EQ(AsSymbol("@a::@b"), "a");
  EXPECT_EQ(AsSymbol("main"), "");
  for (const auto* text :
       {"EQ", "#stablehlo<comparison_direction EQ>", "#mhlo.comparison_direction<EQ>", "\"EQ\"", "<EQ>"}) {
    EXPECT_EQ(AsEnum(text), "EQ") << text;
  }
}

TEST(Attribute, ReadsEveryListSpelling) {
  for (const auto* text :
       {"array<i64: 1, -2>", "dense<[1, -2]> : tensor<2xi64>", "[1, -2]", "[1 : i64, -2 : i64]", "{1,-2}",
        "dense<\"0x0100FEFF\"> : tensor<2xi16>", "dense<\"0x0100000000000000FEFFFFFFFFFFFFFF\"> : tensor<2xindex>",
        "dense<[[1], [-2]]> : tensor<2x1xi64>", "[1, // one\n -2]"}) {
    EXPECT_THAT(AsIntegers(text), Optional(ElementsAre(1, -2))) << text;
  }
  EXPECT_THAT(AsIntegers("dense<5> : tensor<3xi64>"), Optional(ElementsAre(5, 5, 5)));
  EXPECT_THAT(AsIntegers("array<i1: true, false>"), Optional(ElementsAre(1, 0)));
  EXPECT_THAT(AsIntegers("dense<true> : tensor<2xi1>"), Optional(ElementsAre(1, 1)));
  for (const auto* text : {"array<i64>", "[]", "dense<> : tensor<0xi64>", "dense<1> : tensor<0xi64>", "{}"}) {
    EXPECT_THAT(AsIntegers(text), Optional(IsEmpty())) << text;
  }
}

TEST(Attribute, RefusesListsItCannotRead) {
  for (const auto* text : {"", "3", "dense<[1.5]> : tensor<1xf32>", "dense<[1, 2]> : tensor<3xi64>", "dense<[1]>",
                           "array<i64: 1", "dense<0> : tensor<99999999999xi64>", "dense<0> : tensor<?xi64>",
                           "dense<\"0x01\"> : tensor<2xi16>", "dense_resource<big> : tensor<4xi64>", "[1, x]"}) {
    EXPECT_FALSE(AsIntegers(text)) << text;
  }
}

TEST(Attribute, ReadsMatrices) {
  const auto splat = AsIntegerMatrix("dense<0> : tensor<4x2xi64>");
  ASSERT_TRUE(splat);
  EXPECT_EQ(splat->rows, 4);
  EXPECT_EQ(splat->columns, 2);
  for (const auto* text : {"dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>", "[[0, 1], [2]]", "{{0,1},{2}}"}) {
    const auto matrix = AsIntegerMatrix(text);
    ASSERT_TRUE(matrix) << text;
    EXPECT_EQ(matrix->rows, 2) << text;
    EXPECT_THAT(matrix->values, ElementsAre(0, 1, 2, -1)) << text;
  }
  for (const auto* text : {"dense<> : tensor<0x0xi64>", "{}", "[[]]"}) {
    const auto matrix = AsIntegerMatrix(text);
    ASSERT_TRUE(matrix) << text;
    EXPECT_EQ(matrix->values.size(), 0u) << text;
  }
  EXPECT_FALSE(AsIntegerMatrix("dense<[0, 1]> : tensor<2xi64>"));
  EXPECT_FALSE(AsIntegerMatrix("dense<> : tensor<99999999999x0xi64>"));
}

TEST(Attribute, DescribesConstantsWithoutReadingThem) {
  const auto hex = AsDense("dense<\"0x0000803F\"> : tensor<1xf32>");
  ASSERT_TRUE(hex);
  EXPECT_EQ(hex->form, DenseForm::kHex);
  EXPECT_EQ(hex->payload, "0000803F");
  EXPECT_EQ(hex->type, "tensor<1xf32>");
  EXPECT_EQ(AsDense("dense<0x7FC00000> : tensor<2xf32>")->form, DenseForm::kSplat);
  EXPECT_EQ(AsDense("dense<[1.0, 2.0]> : tensor<2xf32>")->form, DenseForm::kList);
  EXPECT_EQ(AsDense("dense<> : tensor<0xf32>")->form, DenseForm::kEmpty);
  EXPECT_EQ(AsDense("dense_resource<blob> : tensor<4xf32>")->payload, "blob");
  EXPECT_EQ(AsDense("array<i32: 1>")->type, "i32");
  EXPECT_EQ(AsDense("1.0 : f32")->type, "f32");
  EXPECT_FALSE(AsDense("\"text\""));
  EXPECT_FALSE(AsDense("dense<[1] : tensor<1xi64>"));
}

TEST(Attribute, ReadsShapesOfTypeTexts) {
  const auto shape = AsShape("tensor<0x4x?xf32, #stablehlo.bounds<?, ?, 4>>");
  ASSERT_TRUE(shape);
  EXPECT_THAT(shape->dims, ElementsAre(0, 4, kDynamic));
  EXPECT_EQ(shape->element, "f32");
  EXPECT_EQ(AsShape("tensor<complex<f32>>")->element, "complex<f32>");
  EXPECT_THAT(AsShape("f32")->dims, IsEmpty());
  EXPECT_FALSE(AsShape("tensor<*xf32>"));
  EXPECT_FALSE(AsShape("tensor<4>"));
}

TEST(Attribute, SplitsListsAndDictionaries) {
  EXPECT_THAT(ListItems("[a, {b, c}, \"d, e\", (f) -> g]"), ElementsAre("a", "{b, c}", "\"d, e\"", "(f) -> g"));
  EXPECT_THAT(ListItems("[]"), IsEmpty());
  const auto entries = Entries("#stablehlo.dot<lhs = [0, 1], \"quoted\" = 2 : i64, unit>");
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(FindEntry(entries, "lhs"), "[0, 1]");
  EXPECT_EQ(FindEntry(entries, "quoted"), "2 : i64");
  EXPECT_EQ(FindEntry(entries, "unit"), "");
  EXPECT_FALSE(FindEntry(entries, "absent"));
}

TEST(Attribute, SurvivesGarbage) {
  const std::string_view alphabet = "[]{}()<>\"\\,:=-x0123 densaryrtoi6@#/\n?.";
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string text = round % 3 == 0 ? "dense<" : round % 3 == 1 ? "array<" : "";
    for (size_t i = random() % 24; i > 0; --i) text += alphabet[random() % alphabet.size()];
    if (round % 3 == 0) text += "> : tensor<2x2xi64>";
    AsInteger(text), AsBool(text), AsString(text), AsSymbol(text), AsEnum(text), AsIntegers(text), AsFloat(text);
    AsIntegerMatrix(text), AsDense(text), AsShape(text), ListItems(text), Entries(text);
  }
}

TEST(Attribute, DeepNestingIsNoProblem) {
  const std::string deep = std::string(1000000, '[') + "1" + std::string(1000000, ']');
  EXPECT_THAT(AsIntegers(deep), Optional(ElementsAre(1)));
  EXPECT_EQ(ListItems(deep).size(), 1u);
}

}  // namespace
}  // namespace hespas::ir
