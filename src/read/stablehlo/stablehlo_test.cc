#include "read/stablehlo/stablehlo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "ir/printer.h"
#include "read/read.h"

namespace hespas::read {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Outcome {
  std::vector<std::string> errors;  // "line:column: code message"
  std::vector<std::string> help;
  Result<ir::Module> module = Error{};
};

Outcome Read(std::string text) {
  Outcome outcome;
  Diagnostics diagnostics;
  outcome.module = ReadText("t.mlir", std::move(text), {.verify = false}, diagnostics);
  for (const Diagnostic& d : diagnostics.all()) {
    outcome.errors.push_back(fmt::format("{}:{}: {} {}", d.location.line, d.location.column, d.kind->code, d.message));
    outcome.help.push_back(d.help);
  }
  return outcome;
}

std::string Generic(std::string text) {
  const Outcome outcome = Read(std::move(text));
  return outcome.module ? ir::PrintGeneric(*outcome.module) : outcome.errors.at(0);
}

// One op inside a function that has %a, %b: tensor<4xf32>, printed in generic form.
std::string Op(const std::string& op) {
  const std::string text = Generic("func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) {\n" + op + "\nreturn\n}\n");
  const size_t begin = text.find(":\n    ");
  return begin == std::string::npos ? text : text.substr(begin + 6, text.find("\n    \"func.return\"") - begin - 6);
}

TEST(StableHlo, PrettyFormsLeaveTheGenericAttributes) {
  EXPECT_EQ(Op("%0 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>"),
            "%0 = \"stablehlo.compare\"(%arg0, %arg1) <{compare_type = #stablehlo<comparison_type FLOAT>, "
            "comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4xf32>, tensor<4xf32>) -> "
            "tensor<4xi1>");
  EXPECT_EQ(Op("%0 = stablehlo.slice %a [1:4:2] : (tensor<4xf32>) -> tensor<2xf32>"),
            "%0 = \"stablehlo.slice\"(%arg0) <{limit_indices = array<i64: 4>, start_indices = array<i64: 1>, strides = "
            "array<i64: 2>}> : (tensor<4xf32>) -> tensor<2xf32>");
  EXPECT_EQ(Op("%0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0], precision = [HIGH, DEFAULT] : "
               "(tensor<4xf32>, tensor<4xf32>) -> tensor<f32>"),
            "%0 = \"stablehlo.dot_general\"(%arg0, %arg1) <{dot_dimension_numbers = "
            "#stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = "
            "[#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]}> : (tensor<4xf32>, tensor<4xf32>) -> "
            "tensor<f32>");
  EXPECT_EQ(Op("%0 = stablehlo.custom_call @f(%a) {has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>"),
            "%0 = \"stablehlo.custom_call\"(%arg0) <{call_target_name = \"f\", has_side_effect = true}> : "
            "(tensor<4xf32>) -> tensor<4xf32>");
}

TEST(StableHlo, AppliesBuildsTheReducer) {
  const std::string text =
      Op("%c = stablehlo.constant dense<0.0> : tensor<f32>\n"
         "%0 = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, "
         "tensor<f32>) -> tensor<f32>");
  EXPECT_THAT(text, HasSubstr("^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):\n"
                              "      %2 = \"stablehlo.add\"(%arg2, %arg3) : (tensor<f32>, tensor<f32>) -> tensor<f32>\n"
                              "      \"stablehlo.return\"(%2) : (tensor<f32>) -> ()\n"));
}

TEST(StableHlo, WhileBindsItsValuesInBothRegions) {
  const Outcome outcome = Read(R"(
func.func @main(%n: tensor<i32>) -> tensor<i32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c, %limit = %n) : tensor<i32>, tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    stablehlo.return %i, %limit : tensor<i32>, tensor<i32>
  }
  return %0#1 : tensor<i32>
}
)");
  ASSERT_TRUE(outcome.module.ok()) << outcome.errors.at(0);
  const ir::Module& module = *outcome.module;
  const ir::OpId loop = module.block(module.body(module.main())).ops[1];
  EXPECT_EQ(module.kind(loop), ir::OpKind::kWhile);
  EXPECT_EQ(module.regions(loop).size(), 2u);
  EXPECT_EQ(module.block(module.body(loop, 1)).argument_count, 2u);
}

TEST(StableHlo, AliasesMayComeLate) {
  const Outcome outcome = Read(R"(
func.func @main(%x: !t) -> !t {
  %0 = "test.op"(%x) {a = #one, l = [#one, 2]} : (!t) -> !t loc(#loc1)
  return %0 : !t
}
!t = !u
!u = tensor<2xf32>
#one = #two
#two = "text"
#loc1 = loc("file.py":3:4)
)");
  ASSERT_TRUE(outcome.module.ok()) << outcome.errors.at(0);
  const ir::Module& module = *outcome.module;
  const ir::OpId op = module.block(module.body(module.main())).ops[0];
  EXPECT_EQ(*module.attribute(op, "a"), "\"text\"");
  EXPECT_EQ(*module.attribute(op, "loc"), "#loc1");
  EXPECT_EQ(module.types().Text(module.type_id(module.result(op))), "tensor<2xf32>");
  EXPECT_THAT(ir::PrintGeneric(module), HasSubstr("l = [\"text\", 2]"));
}

TEST(StableHlo, UsesMayPrecedeDefinitionsAcrossBlocks) {
  const Outcome outcome = Read(R"(
func.func @main() {
  "cf.br"()[^later] : () -> ()
^first:
  "test.use"(%x#1) : (i32) -> ()
  "test.end"() : () -> ()
^later:
  %x:2 = "test.def"() : () -> (i32, i32)
  "cf.br"()[^first] : () -> ()
}
)");
  ASSERT_TRUE(outcome.module.ok()) << outcome.errors.at(0);
  EXPECT_THAT(ir::PrintGeneric(*outcome.module), HasSubstr("\"test.use\"(%0#1)"));
  EXPECT_THAT(ir::PrintGeneric(*outcome.module), HasSubstr("^bb1:  // pred: ^bb2"));
}

TEST(StableHloErrors, StandWhereTheyAre) {
  EXPECT_THAT(Read("func.func @main() {\n  %0 = stablehlo.add %x, %y : tensor<f32>\n  return\n}\n").errors,
              ElementsAre("2:22: E0102 `%x` is not defined in this function",
                          "2:26: E0102 `%y` is not defined in this function"));
  EXPECT_THAT(Read("module {\n  func.func @main() {\n    return %q\n  }\n}\n").errors,
              ElementsAre("3:14: E0101 expected `:`, found `}`"));
  EXPECT_THAT(Read("func.func @main(%a: tensor<2x>) {\n  return\n}\n").errors,
              ElementsAre("1:30: E0101 expected an element type, found `>`"));
  EXPECT_THAT(Read("func.func @main(%a: tensor<2xf33>) {\n  return\n}\n").errors,
              ElementsAre("1:30: E0105 unknown element type `f33`"));
  EXPECT_THAT(
      Read("func.func @main() {\n  %0 = stablehlo.constant dense<[1, x]> : tensor<2xi32>\n  return\n}\n").errors,
      ElementsAre("2:37: E0101 expected a number, `true`, `false`, `(` or `[`, found `x`"));
  EXPECT_THAT(
      Read("func.func @main() {\n  %0 = stablehlo.constant dense<[1, 2]> : tensor<3xi32>\n  return\n}\n").errors,
      ElementsAre("2:27: E0106 the data has the shape [2], the type [3]"));
  EXPECT_THAT(
      Read("func.func @main(%a: tensor<2xf32>) {\n  %0 = stablehlo.tanh %a : tensor<3xf32>\n  return\n}\n").errors,
      ElementsAre("2:23: E0108 this operand has the type tensor<2xf32>, but is used as tensor<3xf32>"));
  EXPECT_THAT(Read("func.func @main() {\n  %0:2 = \"a.b\"() : () -> i32\n  return\n}\n").errors,
              ElementsAre("2:3: E0108 `a.b` has 1 result, but 2 are named here"));
  EXPECT_THAT(Read("func.func @main() {\n  \"a.b\"() {x = 1, x = 2} : () -> ()\n  return\n}\n").errors,
              ElementsAre("2:3: E0106 attribute `x` is given twice"));
}

TEST(StableHloErrors, AreReportedTogether) {
  const Outcome outcome = Read(R"(
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.foo %a : tensor<2xf32>
  %1 = stablehlo.add %0, %a : tensor<2xf32>
  %2 = stablehlo.transpose %1, dims [1] : (tensor<2xf32>) -> tensor<2xf32>
  %3 = stablehlo.tanh %2 : tensor<2xf32>
  return %3 : tensor<2xf32>
}
func.func @other() {
  %0 = stablehlo.tanh %missing : tensor<f32>
  return
}
)");
  EXPECT_THAT(outcome.errors, ElementsAre("3:8: E0104 op `stablehlo.foo` has no pretty form that is known here",
                                          "5:37: E0101 expected `=`, found `[`",
                                          "10:23: E0102 `%missing` is not defined in this function"));
}

TEST(StableHloErrors, SuggestTheNearestOp) {
  const Outcome outcome =
      Read("func.func @main(%a: tensor<f32>) {\n  %0 = stablehlo.tannh %a : tensor<f32>\n  return\n}\n");
  EXPECT_THAT(outcome.help.at(0), HasSubstr("did you mean `stablehlo.tanh`?"));
}

TEST(StableHloErrors, OfAliases) {
  EXPECT_THAT(Read("#a = #b\n#b = #a\nmodule attributes {x = #a} {\n}\n").errors.at(0),
              HasSubstr("1:1: E0107 `#a` is defined in terms of itself"));
  EXPECT_THAT(Read("!a = tuple<!b>\n!b = tuple<!a>\nfunc.func private @f(!a)\n").errors.at(0),
              HasSubstr("is defined in terms of itself"));
  EXPECT_THAT(Read("func.func private @f(!nope)\n").errors, ElementsAre("1:22: E0107 `!nope` is not defined"));
  EXPECT_THAT(Read("#a = 1\n#a = 2\n").errors, ElementsAre("2:1: E0103 alias `#a` is defined already"));
}

// A definition reaches its own region and those inside it; `%v` is used by a region beside and by one in front.
TEST(StableHloErrors, OfNamesOfOtherRegions) {
  const std::string define = "\"a.d\"() ({\n  %v = \"a.c\"() : () -> i32\n}) : () -> ()\n";
  const std::string use = "\"a.u\"() ({\n  \"a.b\"(%v) : (i32) -> ()\n}) : () -> ()\n";
  EXPECT_THAT(Read("func.func @f() {\n" + use + define + "}\n").errors,
              ElementsAre("3:9: E0102 `%v` is not defined in this function"));
  EXPECT_THAT(Read("func.func @f() {\n" + define + use + "}\n").errors,
              ElementsAre("6:9: E0102 `%v` is not defined in this function"));
  EXPECT_THAT(Read("func.func @f() {\n" + use + define + use + "%v = \"a.c\"() : () -> i32\n}\n").errors,
              ElementsAre());
}

TEST(StableHloErrors, OfFilesThatAreNoPrograms) {
  EXPECT_THAT(Read("").errors, ElementsAre("1:1: E0112 the file is empty"));
  EXPECT_THAT(Read(" \n\n").errors, ElementsAre("1:1: E0112 the file is empty"));
  EXPECT_THAT(Read(std::string("\x00\x01\x02gibberish", 12)).errors,
              ElementsAre("1:1: E0112 the file is binary data of no known kind"));
  EXPECT_THAT(Read("hello world\n").errors,
              ElementsAre("1:1: E0112 the text is no program: no statement of MLIR starts here"));
}

TEST(StableHloErrors, OfTruncatedFiles) {
  const std::string text =
      "module @m {\n  func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
      "    %0 = stablehlo.constant dense<\"0x0000803F0000803F\"> : tensor<2xf32>\n"
      "    %1 = stablehlo.add %a, %0 {note = \"x\"} : tensor<2xf32>\n    return %1 : tensor<2xf32>\n  }\n}\n";
  EXPECT_TRUE(Read(text).module.ok());
  for (size_t length = 1; length + 2 < text.size(); ++length) {
    const Outcome outcome = Read(text.substr(0, length));
    EXPECT_FALSE(outcome.module.ok()) << length;
    EXPECT_FALSE(outcome.errors.empty()) << length;
  }
  EXPECT_FALSE(Read("module attributes {x = 1.").module.ok());
  // A type cut off: the reader once looked for the rest of `tensor<` behind the end.
  for (const char* tail : {"", " ", " t", " tensor", " tensor<"}) {
    EXPECT_FALSE(Read(std::string("func.func @main(%a: i32) -> i32 {\n  return %a :") + tail).module.ok());
  }
  EXPECT_THAT(Read("module {\n  func.func @main() {\n").errors,
              ElementsAre("2:3: E0110 the file ends inside `func.func`, whose region is never closed"));
}

TEST(StableHlo, MainIsAskedForSeparately) {
  const Outcome outcome = Read("func.func @step() {\n  return\n}\n");
  ASSERT_TRUE(outcome.module.ok());
  const auto main = RequireMain(*outcome.module);
  ASSERT_FALSE(main.ok());
  EXPECT_THAT(main.error().help, HasSubstr("`step`"));
  EXPECT_TRUE(RequireMain(*Read("func.func @main() {\n  return\n}\n").module).ok());
}

std::string Repeat(const std::string& text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

// Each of these would take minutes or overflow the stack if its cost were quadratic or its depth recursed on.
TEST(StableHloLimits, DeepNesting) {
  const Outcome regions = Read(Repeat("\"a.b\"() ({\n", 200000) + Repeat("}) : () -> ()\n", 200000));
  EXPECT_THAT(regions.errors.at(0), HasSubstr("E0109 regions are nested over 2000 deep here"));
  EXPECT_TRUE(Read(Repeat("\"a.b\"() ({\n", 1900) + Repeat("}) : () -> ()\n", 1900)).module.ok());
  const Outcome attribute = Read("\"a.b\"() {x = " + Repeat("[", 300000) + Repeat("]", 300000) + "} : () -> ()\n");
  ASSERT_TRUE(attribute.module.ok());
  EXPECT_FALSE(ir::PrintGeneric(*attribute.module).empty());
  const Outcome types = Read("func.func private @f(" + Repeat("tuple<", 100000) + "i32" + Repeat(">", 100000) + ")\n");
  EXPECT_THAT(types.errors.at(0), HasSubstr("E0109 types are nested over 400 deep here"));
  EXPECT_FALSE(
      Read("\"a.b\"() {x = dense<" + Repeat("[", 100000) + "1" + Repeat("]", 100000) + "> : tensor<i32>} : () -> ()\n")
          .module.ok());
}

TEST(StableHloLimits, ManyOfEverything) {
  std::string types = "i32";
  for (int i = 1; i < 200000; ++i) types += ", i32";
  EXPECT_TRUE(Read("%0:200000 = \"a.b\"() : () -> (" + types + ")\n").module.ok());
  std::string entries = "a0";
  for (int i = 1; i < 200000; ++i) entries += fmt::format(", a{}", i);
  EXPECT_TRUE(Read("\"a.b\"() {" + entries + "} : () -> ()\n").module.ok());
  std::string chain;
  for (int i = 0; i < 100000; ++i) chain += fmt::format("#a{} = #a{}\n!t{} = !t{}\n", i, i + 1, i, i + 1);
  chain += "#a100000 = 7\n!t100000 = tensor<f32>\nmodule attributes {x = #a0, y = #a5} {\n}\n";
  EXPECT_TRUE(Read(chain).module.ok());
  std::string pending;
  for (int i = 0; i < 50000; ++i) {
    pending += fmt::format("\"a.b\"(%x{}) : (i32) -> ()\nfunc.func @f{}() {{\n  return\n}}\n", i, i);
  }
  EXPECT_EQ(Read(pending).errors.size(), Diagnostics::kErrorLimit);
  std::string siblings = "func.func @f() {\n";
  for (int i = 0; i < 100000; ++i) siblings += "\"a.b\"(%x) ({\n  %x = \"a.c\"() : () -> i32\n}) : (i32) -> ()\n";
  EXPECT_EQ(Read(siblings + "}\n").errors.size(), Diagnostics::kErrorLimit);
}

TEST(StableHloLimits, AliasesThatMultiply) {
  std::string types = "!t0 = tuple<i32, i32>\n#a0 = [1, 2]\n";
  for (int i = 1; i < 100; ++i) {
    types += fmt::format("!t{} = tuple<!t{}, !t{}>\n#a{} = [#a{}, #a{}]\n", i, i - 1, i - 1, i, i - 1, i - 1);
  }
  EXPECT_THAT(Read(types + "func.func private @f(!t99)\n").errors.at(0), HasSubstr("holds over a million types"));
  std::string attributes = "#a0 = [1, 2]\n";
  for (int i = 1; i < 100; ++i) attributes += fmt::format("#a{} = [#a{}, #a{}]\n", i, i - 1, i - 1);
  const Outcome outcome = Read(attributes + "module attributes {x = #a99} {\n}\n");
  ASSERT_TRUE(outcome.module.ok());
  EXPECT_LT(ir::PrintGeneric(*outcome.module).size(), size_t{10} << 20);
}

}  // namespace
}  // namespace hespas::read
