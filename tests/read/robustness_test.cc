// Inputs made to exhaust a reader: each is read, or refused with an error, in time linear in its size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "read/read.h"

namespace hespas {
namespace {

constexpr int kMany = 1'000'000;
constexpr int kDeep = 100'000;

// The code of the first error; "" where the text is read.
std::string CodeOf(std::string text) {
  Diagnostics diagnostics;
  const auto module = read::ReadText("large", std::move(text), {}, diagnostics);
  EXPECT_EQ(module.ok(), !diagnostics.has_errors());
  return module.ok() ? "" : std::string(module.error().kind->code);
}

std::string Repeat(std::string_view part, int times) {
  std::string out;
  out.reserve(part.size() * static_cast<size_t>(times));
  for (int i = 0; i < times; ++i) out += part;
  return out;
}

std::string InFunction(const std::string& body) { return "func.func @main() {\n" + body + "  return\n}\n"; }

TEST(Robustness, DeepRegionsAreRefused) {
  EXPECT_EQ(CodeOf(InFunction(Repeat("\"a.b\"() ({\n", kDeep) + Repeat("}) : () -> ()\n", kDeep))), "E0109");
  EXPECT_NE(CodeOf(InFunction(Repeat("\"a.b\"() ({\n", kDeep))), "");
}

TEST(Robustness, DeepTypesAndAttributesAreRefused) {
  EXPECT_NE(CodeOf("func.func private @f(" + Repeat("tuple<", kDeep) + "i32" + Repeat(">", kDeep) + ")\n"), "");
  const std::string nested = Repeat("[", kDeep) + Repeat("]", kDeep);
  Diagnostics diagnostics;
  const auto list = read::ReadText("large", InFunction("\"a.b\"() {x = " + nested + "} : () -> ()\n"), {}, diagnostics);
  EXPECT_EQ(list.ok(), !diagnostics.has_errors());
}

TEST(Robustness, AMillionResults) {
  EXPECT_EQ(CodeOf(InFunction("  %0:1000000 = \"a.b\"() : () -> (" + Repeat("i32, ", kMany - 1) + "i32)\n" +
                              "  \"a.c\"(%0#999999) : (i32) -> ()\n")),
            "");
}

TEST(Robustness, AMillionAttributes) {
  std::string attributes;
  for (int i = 0; i < kMany; ++i) attributes += fmt::format("{}a{} = {}", i == 0 ? "" : ", ", i, i);
  EXPECT_EQ(CodeOf(InFunction("  \"a.b\"() {" + attributes + "} : () -> ()\n")), "");
}

TEST(Robustness, LongAndCyclicAliasChains) {
  std::string chain = "#a0 = 1 : i32\n";
  for (int i = 1; i < kDeep; ++i) chain += fmt::format("#a{} = #a{}\n", i, i - 1);
  const std::string use = InFunction(fmt::format("  \"a.b\"() {{x = #a{}}} : () -> ()\n", kDeep - 1));
  CodeOf(chain + use);  // read, or refused as too deep: both are fine
  EXPECT_NE(CodeOf("#a = #b\n#b = #a\n" + InFunction("  \"a.b\"() {x = #a} : () -> ()\n")), "");
  EXPECT_NE(CodeOf("!a = tuple<!b>\n!b = tuple<!a>\nfunc.func private @f(!a)\n"), "");
}

TEST(Robustness, DeepHloOperands) {
  EXPECT_EQ(CodeOf("HloModule m\n\nENTRY main {\n  a = f32[] parameter(0)\n  ROOT r = " + Repeat("negate(", kDeep) +
                   "a" + Repeat(")", kDeep) + "\n}\n"),
            "");
}

TEST(Robustness, DeepHloTuplesAreRefused) {
  EXPECT_NE(CodeOf("HloModule m\n\nENTRY main {\n  ROOT a = " + Repeat("(", kDeep) + "f32[]" + Repeat(")", kDeep) +
                   " parameter(0)\n}\n"),
            "");
}

// A call of a function that stands where it is called, with `depth` fusions that stand within each other in it.
std::string InlineHlo(int depth) {
  std::string text = "HloModule m\n\nENTRY main {\n  a = f32[] parameter(0)\n  ROOT r = f32[] call(a), to_apply=";
  text += Repeat("{\n  p = f32[] parameter(0)\n  ROOT c = f32[] fusion(p), kind=kLoop, calls=", depth);
  return text + "{\n  ROOT q = f32[] parameter(0)\n}" + Repeat("\n}", depth) + "\n}\n";
}

TEST(Robustness, DeepHloComputations) {
  EXPECT_EQ(CodeOf(InlineHlo(500)), "");
  EXPECT_EQ(CodeOf(InlineHlo(kDeep)), "E0210");
}

TEST(Robustness, DeepHloBranches) {
  const std::string text =
      "HloModule m\n\nENTRY main {\n  i = s32[] parameter(0)\n  ROOT r = s32[] conditional(i, i, i), "
      "branch_computations=";
  const std::string level =
      "{{\n  q = s32[] parameter(0)\n  ROOT n = s32[] negate(q)\n}, {\n  p = s32[] parameter(0)\n  ROOT c = s32[] "
      "conditional(p, p, p), branch_computations=";
  const std::string last =
      "{{\n  x = s32[] parameter(0)\n  ROOT y = s32[] negate(x)\n}, {\n  ROOT z = s32[] parameter(0)\n}}";
  EXPECT_EQ(CodeOf(text + Repeat(level, 300) + last + Repeat("\n}}", 300) + "\n}\n"), "");
  EXPECT_EQ(CodeOf(text + Repeat(level, kDeep / 10) + last + Repeat("\n}}", kDeep / 10) + "\n}\n"), "E0210");
}

TEST(Robustness, AMillionHloOperandsAndAttributes) {
  EXPECT_EQ(CodeOf("HloModule m\n\nENTRY main {\n  a = f32[1] parameter(0)\n  ROOT c = f32[1000000] concatenate(" +
                   Repeat("a, ", kMany - 1) + "a), dimensions={0}\n}\n"),
            "");
  std::string attributes;
  for (int i = 0; i < kDeep; ++i) attributes += fmt::format(", k{}={}", i, i);
  EXPECT_EQ(CodeOf("HloModule m\n\nENTRY main {\n  a = f32[1] parameter(0)\n  ROOT n = f32[1] negate(a)" + attributes +
                   "\n}\n"),
            "");
}

// What fuzzers found; the whole inputs are seeds in fuzz/corpus.
TEST(Robustness, FindingsOfFuzzers) {
  EXPECT_NE(CodeOf("x \"\n\""), "") << "recovery behind a string over two lines that ends the text";
}

}  // namespace
}  // namespace hespas
