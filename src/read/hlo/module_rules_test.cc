#include "read/hlo/module_rules.h"

#include <gmock/gmock.h>

#include <string>

#include "read/read.h"

namespace hespas::read {
namespace {

using testing::HasSubstr;

// A module of two parameters, with `body`, further computations and attributes of the header.
std::string Program(const std::string& body, const std::string& header = "", const std::string& more = "",
                    const std::string& result = "f32[8,4]") {
  return "HloModule m, num_partitions=4" + header + "\n" +
         "%add (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n"
         "  ROOT %s = f32[] add(%a, %b)\n}\n" +
         more + "ENTRY %main (x: f32[8,4], w: f32[4,16]) -> " + result +
         " {\n  %x = f32[8,4]{1,0} parameter(0)\n  %w = f32[4,16]{1,0} parameter(1)\n" + body + "\n}\n";
}

// "LINE:COLUMN CODE", or "" where the program is accepted; a refusal has a remedy.
std::string Refusal(const std::string& text) {
  Diagnostics diagnostics;
  const auto module = ReadText("m.hlo", Content(std::string(text)), {}, diagnostics);
  if (module) return "";
  EXPECT_FALSE(module.error().help.empty()) << module.error().message;
  EXPECT_EQ(diagnostics.error_count(), 1u) << text;
  return fmt::format("{}:{} {}", module.error().location.line, module.error().location.column,
                     module.error().kind->code);
}

const std::string kRoot = "  ROOT %r = f32[8,4] tanh(%x)";

TEST(ModuleRules, AliasesOfTheEntry) {
  const auto with = [](const std::string& aliases) {
    return Refusal(Program(kRoot, ", input_output_alias=" + aliases));
  };
  EXPECT_EQ(with("{ {}: (0, {}, may-alias) }"), "");
  EXPECT_EQ(with("{ {}: (0, {}) }"), "");
  EXPECT_EQ(with("{ }"), "");
  EXPECT_EQ(with("{ {}: (7, {}, may-alias) }"), "1:51 E0213");
  EXPECT_EQ(with("{ {3}: (0, {}, may-alias) }"), "1:51 E0213");
  EXPECT_EQ(with("{ {}: (0, {2}, may-alias) }"), "1:51 E0213");
  EXPECT_EQ(with("{ {}: (1, {}, may-alias) }"), "1:51 E0213");  // 256 bytes for 128
  EXPECT_EQ(with("{ hello }"), "1:51 E0213");
  EXPECT_EQ(with("{ {}: (99999999999999999999, {}) }"), "1:51 E0213");
  const std::string pair = "  %q = f32[8,4] negate(%x)\n  ROOT %r = (f32[8,4], f32[8,4]) tuple(%x, %q)";
  const auto twice = [&](const std::string& second) {
    return Refusal(
        Program(pair, ", input_output_alias={ {0}: (0, {}, may-alias)" + second + " }", "", "(f32[8,4], f32[8,4])"));
  };
  EXPECT_EQ(twice(""), "");
  EXPECT_EQ(twice(", {1}: (0, {}, may-alias)"), "1:51 E0213");
}

TEST(ModuleRules, Donors) {
  EXPECT_EQ(Refusal(Program(kRoot, ", buffer_donor={ (1, {}) }")), "");
  EXPECT_EQ(Refusal(Program(kRoot, ", buffer_donor={ (2, {}) }")), "1:45 E0213");
}

TEST(ModuleRules, AliasesOfCustomCalls) {
  const auto with = [](const std::string& aliases) {
    return Refusal(Program(
        "  ROOT %r = f32[8,4] custom-call(%x), custom_call_target=\"f\", output_to_operand_aliasing=" + aliases));
  };
  EXPECT_EQ(with("{{}: (0, {})}"), "");
  EXPECT_EQ(with("{{}: (3, {})}"), "10:90 E0213");
  EXPECT_EQ(with("{{1}: (0, {})}"), "10:90 E0213");
}

TEST(ModuleRules, ControlPredecessors) {
  const auto with = [](const std::string& first, const std::string& second) {
    return Refusal(Program("  %q = f32[8,4] negate(%x)" + first + "\n  ROOT %r = f32[8,4] tanh(%x)" + second));
  };
  EXPECT_EQ(with("", ", control-predecessors={%q}"), "");
  EXPECT_EQ(with(", control-predecessors={%r}", ""), "");
  EXPECT_EQ(with("", ", control-predecessors={%nobody}"), "11:55 E0214");
  EXPECT_EQ(with("", ", control-predecessors={%a}"), "11:55 E0214");  // of another computation
  EXPECT_EQ(with("", ", control-predecessors={%r}"), "11:8 E0214");
  EXPECT_EQ(with(", control-predecessors={%r}", ", control-predecessors={%q}"), "10:3 E0214");
}

TEST(ModuleRules, Recursion) {
  const auto computation = [](const std::string& name, const std::string& callee) {
    return "%" + name + " (a" + name + ": f32[8,4]) -> f32[8,4] {\n  %a" + name +
           " = f32[8,4] parameter(0)\n  ROOT %t" + name + " = f32[8,4] " +
           (callee.empty() ? "tanh(%a" + name + ")" : "call(%a" + name + "), to_apply=%" + callee) + "\n}\n";
  };
  const std::string calls = "  ROOT %r = f32[8,4] call(%x), to_apply=%c";
  EXPECT_EQ(Refusal(Program(calls, "", computation("c", ""))), "");
  EXPECT_EQ(Refusal(Program(calls, "", computation("d", "") + computation("c", "d"))), "");
  EXPECT_EQ(Refusal(Program(calls, "", computation("c", "c"))), "7:1 E0210");
  EXPECT_EQ(Refusal(Program(calls, "", computation("c", "d") + computation("d", "c"))), "7:1 E0210");
}

TEST(ModuleRules, StartsHaveDones) {
  const std::string start =
      "  %q = f32[8,4] all-reduce-start(%x), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, "
      "to_apply=%add\n";
  EXPECT_EQ(Refusal(Program(start + "  ROOT %r = f32[8,4] all-reduce-done(%q)")), "");
  EXPECT_EQ(Refusal(Program(start + kRoot)), "10:3 E0215");
  EXPECT_EQ(Refusal(Program(start + "  ROOT %r = f32[8,4] all-gather-done(%q)")), "11:8 E0215");
}

TEST(ModuleRules, KindsOfFusionsAndIndices) {
  const auto fusion = [](const std::string& kind) {
    return Refusal(
        Program("  ROOT %r = f32[8,4] fusion(%x), kind=" + kind + ", calls=%c", "",
                "%c (p: f32[8,4]) -> f32[8,4] {\n  %p = f32[8,4] parameter(0)\n  ROOT %t = f32[8,4] tanh(%p)\n}\n"));
  };
  EXPECT_EQ(fusion("kInput"), "");
  EXPECT_EQ(fusion("kWrong"), "14:39 E0207");
  const auto slice = [](const std::string& type) {
    return Refusal(Program("  %i = " + type +
                               "[] constant(0)\n  ROOT %r = f32[4,4] dynamic-slice(%x, %i, %i), "
                               "dynamic_slice_sizes={4,4}",
                           "", "", "f32[4,4]"));
  };
  EXPECT_EQ(slice("s32"), "");
  EXPECT_EQ(slice("f32"), "11:8 E0211");
}

TEST(ModuleRules, GroupsAreOfTheProgramsDevices) {
  const auto with = [](const std::string& groups) {
    return Refusal(Program("  ROOT %r = f32[8,4] all-reduce(%x), channel_id=1, replica_groups=" + groups +
                           ", use_global_device_ids=true, to_apply=%add"));
  };
  EXPECT_EQ(with("{{0,1},{2,3}}"), "");
  EXPECT_EQ(with("[2,2]<=[4]"), "");
  EXPECT_EQ(with("{{0,1},{2,3},{4,5}}"), "10:8 E0407");
  EXPECT_EQ(with("{{0,1}}"), "10:8 E0407");
  EXPECT_EQ(with("[2,4]<=[8]"), "10:8 E0407");
  EXPECT_EQ(with("[2,3]<=[4]"), "10:8 E0407");
  const auto permute = [](const std::string& pairs) {
    return Refusal(Program("  ROOT %r = f32[8,4] collective-permute(%x), channel_id=1, source_target_pairs=" + pairs));
  };
  EXPECT_EQ(permute("{{0,1},{1,0}}"), "");
  EXPECT_EQ(permute("{{0,9}}"), "10:8 E0407");
}

}  // namespace
}  // namespace hespas::read
