#include "read/hlo/hlo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/system/file.h"
#include "ir/facts/execution/trip_count.h"

namespace hespas::read {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Reading {
  Diagnostics diagnostics;
  std::optional<ir::Module> module;
  std::string first_error;

  std::string Text(ir::OpId op, std::string_view attribute) const {
    const auto* text = module->attribute(op, attribute);
    return text == nullptr ? "(none)" : std::string(*text);
  }
  std::vector<ir::OpId> Find(std::string_view name) const {
    std::vector<ir::OpId> found;
    for (size_t i = 0; i < module->op_count(); ++i) {
      if (module->name(ir::OpId(i)) == name) found.push_back(ir::OpId(i));
    }
    return found;
  }
  std::string TypeOf(ir::OpId op, size_t result = 0) const {
    return module->types().Text(module->type_id(module->result(op, result)));
  }
};

Reading Read(std::string text) {
  Reading reading;
  auto result = ReadHloText("step.hlo", std::move(text), reading.diagnostics);
  if (result) {
    reading.module.emplace(std::move(*result));
  } else {
    reading.first_error = Render(result.error());
  }
  return reading;
}

Reading ReadBody(const std::string& entry, const std::string& before = "") {
  return Read(fmt::format("HloModule m\n\n{}\nENTRY main {{\n{}}}\n", before, entry));
}

std::vector<std::string> Codes(const Reading& reading) {
  std::vector<std::string> codes;
  for (const auto& d : reading.diagnostics.all()) codes.emplace_back(d.kind->code);
  return codes;
}

std::vector<std::string> MainOps(const Reading& reading) {
  std::vector<std::string> names;
  for (const ir::OpId op : reading.module->block(reading.module->body(reading.module->main())).ops) {
    names.emplace_back(reading.module->name(op));
  }
  return names;
}

TEST(HloText, IsFoundBehindLogLines) {
  EXPECT_TRUE(LooksLikeHloText("2026-01-01 00:00:00 compiled\nHloModule m\n"));
  EXPECT_FALSE(LooksLikeHloText("module @HloModule {}"));
  EXPECT_FALSE(LooksLikeHloText("HloModules are nice"));
}

TEST(HloText, ParametersAndTuplesLeaveNoOp) {
  const auto r = ReadBody(
      "  a = f32[4,8]{1,0} parameter(0)\n  b = (f32[4,8]{1,0}, s32[]) parameter(1)\n"
      "  g = f32[4,8]{1,0} get-tuple-element(b), index=0\n  s = f32[4,8]{1,0} add(a, g)\n"
      "  i = s32[] get-tuple-element(b), index=1\n  ROOT t = (f32[4,8]{1,0}, s32[]) tuple(s, i)\n");
  ASSERT_TRUE(r.module) << r.first_error;
  EXPECT_THAT(MainOps(r), ElementsAre("stablehlo.add", "func.return"));
  EXPECT_EQ(r.Text(r.module->main(), "function_type"),
            "(tensor<4x8xf32>, tensor<4x8xf32>, tensor<i32>) -> (tensor<4x8xf32>, tensor<i32>)");
}

TEST(HloText, OldDumpsWriteShapesBeforeOperands) {
  const auto r = Read(
      "HloModule m, is_scheduled=true\n\nENTRY %main.3 (x: f32[2]) -> f32[2] {\n  %x = f32[2]{0} parameter(0)\n"
      "  ROOT %n = f32[2]{0} negate(f32[2]{0} %x), metadata={op_type=\"neg\" op_name=\"a}b\"}\n}\n");
  ASSERT_TRUE(r.module) << r.first_error;
  EXPECT_THAT(MainOps(r), ElementsAre("stablehlo.negate", "func.return"));
  EXPECT_EQ(r.Text(r.Find("stablehlo.negate")[0], "metadata"), R"({op_type="neg" op_name="a}b"})");
  EXPECT_EQ(r.Text(r.module->root(), "is_scheduled"), "true");
}

TEST(HloText, DotBecomesDotGeneral) {
  const auto r = ReadBody(
      "  a = bf16[2,4,8]{2,1,0} parameter(0)\n  b = bf16[2,8,16]{2,1,0} parameter(1)\n"
      "  ROOT d = f32[2,4,16]{2,1,0} dot(a, b), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, "
      "rhs_contracting_dims={1}, operand_precision={highest,default}\n");
  ASSERT_TRUE(r.module) << r.first_error;
  const auto dot = r.Find("stablehlo.dot_general").at(0);
  EXPECT_EQ(r.Text(dot, "dot_dimension_numbers"),
            "#stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], "
            "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>");
  EXPECT_EQ(r.Text(dot, "precision_config"), "[#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT>]");
}

TEST(HloText, ConvolutionKeepsItsWindow) {
  const auto r = ReadBody(
      "  a = f32[4,32,32,3]{3,2,1,0} parameter(0)\n  b = f32[3,3,3,16]{3,2,1,0} parameter(1)\n"
      "  ROOT c = f32[4,16,16,16]{3,2,1,0} convolution(a, b), window={size=3x3 stride=2x2 pad=0_1x-1_2 "
      "lhs_dilate=1x2 rhs_reversal=0x1}, dim_labels=b01f_01io->b01f, feature_group_count=2\n");
  ASSERT_TRUE(r.module) << r.first_error;
  const auto conv = r.Find("stablehlo.convolution").at(0);
  EXPECT_EQ(r.Text(conv, "dimension_numbers"), "#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>");
  EXPECT_EQ(r.Text(conv, "window_strides"), "array<i64: 2, 2>");
  EXPECT_EQ(r.Text(conv, "padding"), "dense<[[0, 1], [-1, 2]]> : tensor<2x2xi64>");
  EXPECT_EQ(r.Text(conv, "lhs_dilation"), "array<i64: 1, 2>");
  EXPECT_EQ(r.Text(conv, "window_reversal"), "array<i1: false, true>");
  EXPECT_EQ(r.Text(conv, "feature_group_count"), "2 : i64");
}

constexpr char kAdd[] = "add {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = f32[] add(x, y)\n}\n";

TEST(HloText, ReplicaGroupsOfEveryForm) {
  const std::map<std::string, std::string> forms = {
      {"{{0,1},{2,3}}", "dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>"},
      {"{{0,1,2},{3}}", "dense<[[0, 1, 2], [3, -1, -1]]> : tensor<2x3xi64>"},
      {"{}", "dense<> : tensor<0x0xi64>"},
      {"[2,4]<=[8]", "dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>"},
      {"[2,4]<=[4,2]T(1,0)", "dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>"},
      {"mesh['x'=4,'y'=1,'z'=2] {'x'}", "dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>"},
      {"mesh['x'=2,'y'=2] {'y','x'}", "dense<[[0, 2, 1, 3]]> : tensor<1x4xi64>"},
      {"mesh['x'=4] {'x':(2)2}", "dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>"},
      {"[1,65536]<=[65536]", "[1,65536]<=[65536]"}};
  for (const auto& [hlo, expected] : forms) {
    const auto r = ReadBody(
        "  a = f32[8]{0} parameter(0)\n  ROOT r = f32[8]{0} all-reduce(a), channel_id=7, replica_groups=" + hlo +
            ", use_global_device_ids=true, to_apply=add\n",
        kAdd);
    ASSERT_TRUE(r.module) << r.first_error;
    const auto op = r.Find("stablehlo.all_reduce").at(0);
    EXPECT_EQ(r.Text(op, "replica_groups"), expected) << hlo;
    EXPECT_EQ(r.Text(op, "channel_handle"), "#stablehlo.channel_handle<handle = 7, type = 0>");
    EXPECT_EQ(r.Text(op, "use_global_device_ids"), "");
    EXPECT_EQ(r.module->regions(op).size(), 1u);
  }
}

TEST(HloText, StartAndDoneBecomeAnAsyncPair) {
  const auto r = ReadBody(
      "  a = bf16[4]{0} parameter(0)\n"
      "  s = (bf16[4]{0}, bf16[16]{0}) all-gather-start(a), replica_groups=[1,4]<=[4], dimensions={0}, "
      "backend_config={\"collective_backend_config\":{\"is_sync\":true}}\n"
      "  ROOT d = bf16[16]{0} all-gather-done(s)\n");
  ASSERT_TRUE(r.module) << r.first_error;
  EXPECT_THAT(MainOps(r), ElementsAre("mhlo.async_start", "mhlo.async_done", "func.return"));
  const auto start = r.Find("mhlo.async_start").at(0);
  EXPECT_EQ(r.Text(start, "called_computation"), "@s");
  EXPECT_EQ(r.Text(start, "is_sync"), "");
  EXPECT_EQ(r.TypeOf(start), "!mhlo.async_bundle<tuple<tensor<4xbf16>>, tensor<16xbf16>>");
  const auto gather = r.Find("stablehlo.all_gather").at(0);
  EXPECT_EQ(r.module->parent_op(gather), r.module->FindSymbol("s"));
  EXPECT_EQ(r.Text(gather, "all_gather_dim"), "0 : i64");
  EXPECT_EQ(r.TypeOf(gather), "tensor<16xbf16>");
}

TEST(HloText, StartsNameTheComputationsOfTheirOp) {
  const auto r = ReadBody(
      "  a = f32[4]{0} parameter(0)\n"
      "  s = ((f32[4]{0}), f32[4]{0}, u32[]) fusion-start(a), kind=kLoop, calls=inner\n"
      "  d = f32[4]{0} fusion-done(s)\n"
      "  c = ((f32[4]{0}), f32[4]{0}, u32[]) call-start(d), to_apply=other\n"
      "  ROOT e = f32[4]{0} call-done(c)\n",
      "inner {\n  x = f32[4]{0} parameter(0)\n  ROOT n = f32[4]{0} negate(x)\n}\n"
      "other {\n  x = f32[4]{0} parameter(0)\n  ROOT n = f32[4]{0} cosine(x)\n}\n");
  ASSERT_TRUE(r.module) << r.first_error;
  const auto fusion = r.Find("mhlo.fusion").at(0);
  EXPECT_EQ(r.module->parent_op(fusion), r.module->FindSymbol("s"));
  EXPECT_EQ(r.module->regions(fusion).size(), 1u);
  EXPECT_EQ(r.TypeOf(fusion), "tensor<4xf32>");
  EXPECT_EQ(r.Text(r.Find("func.call").at(0), "callee"), "@other");
  EXPECT_THAT(MainOps(r),
              ElementsAre("mhlo.async_start", "mhlo.async_done", "mhlo.async_start", "mhlo.async_done", "func.return"));
}

TEST(HloText, StartsOfFusionsGiveWhatTheirComputationTakes) {
  const std::string inner = "inner {\n  x = f32[4]{0} parameter(0)\n  ROOT n = f32[4]{0} negate(x)\n}\n";
  const std::string two =
      "two {\n  x = f32[4]{0} parameter(0)\n  y = f32[4]{0} parameter(1)\n  ROOT n = f32[4]{0} add(x, y)\n}\n";
  const auto codes = [](const std::string& start, const std::string& computation) {
    return Codes(ReadBody("  a = f32[4]{0} parameter(0)\n  s = ((f32[4]{0}), f32[4]{0}, u32[]) fusion-start(" + start +
                              "\n  ROOT d = f32[4]{0} fusion-done(s)\n",
                          computation));
  };
  EXPECT_THAT(codes("a), kind=kLoop, calls=two", two), ElementsAre("E0208"));
  EXPECT_THAT(codes("a, a), kind=kLoop, calls=inner", inner), ElementsAre("E0208"));
  EXPECT_THAT(codes("a, a), kind=kLoop, calls=two", two), ElementsAre());
}

TEST(HloText, LoopsCarryBundlesAsOneValue) {
  const auto r = ReadBody(
      "  a = f32[4]{0} parameter(0)\n  n = s32[] parameter(1)\n"
      "  s = (f32[4]{0}, f32[4]{0}, u32[], u32[]) collective-permute-start(a), source_target_pairs={{0,1}}\n"
      "  t = (s32[], (f32[4]{0}, f32[4]{0}, u32[], u32[])) tuple(n, s)\n"
      "  w = (s32[], (f32[4]{0}, f32[4]{0}, u32[], u32[])) while(t), condition=cond, body=body, "
      "backend_config={\"known_trip_count\":{\"n\":\"12\"}}\n"
      "  g = (f32[4]{0}, f32[4]{0}, u32[], u32[]) get-tuple-element(w), index=1\n"
      "  ROOT d = f32[4]{0} collective-permute-done(g)\n",
      "cond {\n  p = (s32[], (f32[4]{0}, f32[4]{0}, u32[], u32[])) parameter(0)\n  i = s32[] get-tuple-element(p), "
      "index=0\n"
      "  c = s32[] constant(3)\n  ROOT l = pred[] compare(i, c), direction=LT\n}\n"
      "body {\n  ROOT p = (s32[], (f32[4]{0}, f32[4]{0}, u32[], u32[])) parameter(0)\n}\n");
  ASSERT_TRUE(r.module) << r.first_error;
  const auto loop = r.Find("stablehlo.while").at(0);
  EXPECT_EQ(r.Text(loop, "known_trip_count"), "12 : i64");
  EXPECT_EQ(ir::TripCount(*r.module, loop), 12);
  EXPECT_THAT(r.TypeOf(loop, 1), HasSubstr("async_bundle"));
  EXPECT_EQ(r.TypeOf(r.Find("mhlo.async_done").at(0)), "tensor<4xf32>");
}

TEST(HloText, BranchesSeeTheirOperandDirectly) {
  const auto r = ReadBody(
      "  p = pred[] parameter(0)\n  a = f32[4]{0} parameter(1)\n"
      "  ROOT c = f32[4]{0} conditional(p, a, a), true_computation=yes, false_computation=no\n",
      "yes {\n  ROOT x = f32[4]{0} parameter(0)\n}\nno {\n  x = f32[4]{0} parameter(0)\n  ROOT n = f32[4]{0} "
      "negate(x)\n}\n");
  ASSERT_TRUE(r.module) << r.first_error;
  const auto branch = r.Find("stablehlo.if").at(0);
  EXPECT_EQ(r.module->regions(branch).size(), 2u);
  EXPECT_TRUE(r.module->arguments(r.module->body(branch, 1)).empty());
}

TEST(HloText, ConstantsTakeMlirSpelling) {
  const auto r = ReadBody(
      "  a = f32[] constant(1e-05)\n  b = f32[2]{0} constant({inf, nan})\n  c = s32[2,2]{1,0} constant({ {1, 2}, {3, "
      "-4} })\n"
      "  d = bf16[1024]{0} constant({...})\n  e = pred[] constant(true)\n  f = c64[] constant((1, -2))\n"
      "  ROOT t = (f32[], f32[2]{0}) tuple(a, b)\n");
  ASSERT_TRUE(r.module) << r.first_error;
  std::vector<std::string> texts;
  for (const auto op : r.Find("stablehlo.constant")) texts.push_back(r.Text(op, "value"));
  EXPECT_THAT(
      texts, ElementsAre("dense<1.0e-05> : tensor<f32>", "dense<[0x7F800000, 0x7FC00000]> : tensor<2xf32>",
                         "dense<[[1, 2], [3, -4]]> : tensor<2x2xi32>", "dense_resource<__elided__> : tensor<1024xbf16>",
                         "dense<true> : tensor<i1>", "dense<(1.0, -2.0)> : tensor<complex<f32>>"));
}

TEST(HloText, ReportsEveryErrorWithItsPlace) {
  const auto r = ReadBody(
      "  a = f32[4]{0} parameter(0)\n  b = f33[4]{0} negate(a)\n  c = f32[4]{0} add(a, ax)\n  d = f32[4]{0} negate a\n"
      "  ROOT a = f32[4]{0} negate(a)\n");
  EXPECT_FALSE(r.module);
  EXPECT_THAT(Codes(r), ElementsAre("E0203", "E0202", "E0201", "E0204"));
  EXPECT_THAT(Render(r.diagnostics.all()[1]), HasSubstr("step.hlo:7:24: error[E0202]"));
  EXPECT_THAT(Render(r.diagnostics.all()[1]), HasSubstr("did you mean `a`?"));
}

TEST(HloText, ReportsCallsThatDoNotFit) {
  EXPECT_THAT(Codes(ReadBody("  a = f32[] parameter(0)\n  ROOT c = f32[] call(a), to_apply=addd\n", kAdd)),
              ElementsAre("E0206"));
  EXPECT_THAT(Codes(ReadBody("  a = f32[] parameter(0)\n  ROOT c = f32[] call(a), to_apply=add\n", kAdd)),
              ElementsAre("E0208"));
  EXPECT_THAT(Codes(ReadBody("  ROOT a = f32[] parameter(1)\n")), ElementsAre("E0209"));
  EXPECT_THAT(Codes(ReadBody("  a = f32[4]{0} parameter(0)\n  ROOT s = f32[2]{0} slice(a), slice={[0:2:x]}\n")),
              ElementsAre("E0207"));
  EXPECT_THAT(Codes(Read("HloModule m\n")), ElementsAre("E0205"));
}

TEST(HloText, CyclesAndExplosionsAreErrors) {
  EXPECT_THAT(Codes(ReadBody("  a = f32[] parameter(0)\n  ROOT f = f32[] fusion(a), kind=kLoop, calls=f\n",
                             "f {\n  x = f32[] parameter(0)\n  ROOT y = f32[] fusion(x), kind=kLoop, calls=f\n}\n")),
              ElementsAre("E0210"));
  std::string doubling = "f0 {\n  ROOT x = f32[] parameter(0)\n}\n";
  for (int i = 1; i < 40; ++i) {
    doubling += fmt::format(
        "f{0} {{\n  x = f32[] parameter(0)\n  y = f32[] fusion(x), kind=kLoop, calls=f{1}\n"
        "  ROOT z = f32[] fusion(y), kind=kLoop, calls=f{1}\n}}\n",
        i, i - 1);
  }
  EXPECT_THAT(
      Codes(ReadBody("  a = f32[] parameter(0)\n  ROOT f = f32[] fusion(a), kind=kLoop, calls=f39\n", doubling)),
      ElementsAre("E0210"));
}

TEST(HloText, ShapesMustAnnounceTheValuesThereAre) {
  EXPECT_THAT(Codes(ReadBody("  a = f32[] parameter(0)\n  t = (f32[], f32[]) tuple(a, a)\n"
                             "  ROOT u = (f32[], f32[]) tuple(t, t)\n")),
              ElementsAre("E0208"));
  EXPECT_THAT(Codes(ReadBody("  a = (f32[], f32[]) parameter(0)\n"
                             "  ROOT g = (f32[], f32[]) get-tuple-element(a), index=1\n")),
              ElementsAre("E0208"));
}

TEST(HloText, UnknownOpcodesAreKeptWithAWarning) {
  const auto r = ReadBody("  a = f32[4]{0} parameter(0)\n  ROOT n = f32[4]{0} negatte(a)\n");
  ASSERT_TRUE(r.module) << r.first_error;
  EXPECT_THAT(Codes(r), ElementsAre("W0201"));
  EXPECT_THAT(Render(r.diagnostics.all()[0]), HasSubstr("did you mean `negate`?"));
  EXPECT_THAT(MainOps(r), ElementsAre("mhlo.negatte", "func.return"));
}

TEST(HloText, TruncatedFilesAreErrors) {
  auto whole = ReadInput(HESPAS_SOURCE_DIR "/tests/data/hlo/shmap.after.hlo.txt");
  ASSERT_TRUE(whole);
  for (size_t size = whole->find("ENTRY") + 6; size + 3 < whole->size(); size += 97) {
    EXPECT_FALSE(Read(whole->substr(0, size)).module) << size;
  }
}

// The last computation is the entry where none is marked, but not where the header announces another.
TEST(HloText, EntriesAreAsAnnounced) {
  const auto code = [](const std::string& layout, const std::string& body) {
    const auto r = Read("HloModule m, entry_computation_layout={" + layout + "}\n\n" + body);
    return Codes(r).empty() ? std::string() : Codes(r)[0];
  };
  const std::string body =
      "f {\n  p = f32[4]{0} parameter(0)\n  q = s32[] parameter(1)\n  ROOT t = (f32[4]{0}, s32[]) tuple(p, q)\n}\n";
  EXPECT_EQ(code("(f32[4]{0:T(128)}, /*index=1*/s32[])->(f32[4]{0}, s32[])", body), "");
  EXPECT_EQ(code("(f32[4]{0})->(f32[4]{0}, s32[])", body), "E0211");
  EXPECT_EQ(code("(f32[4]{0}, s32[])->f32[4]{0}", body), "E0211");
  EXPECT_EQ(code("(f32[4]{0}, s64[])->(f32[4]{0}, s32[])", body), "E0211");
  EXPECT_EQ(code("(f32[4]{0}, s32[])->(f32[4]{0}, s64[])", "ENTRY " + body), "E0211");
}

TEST(HloText, ReadsEveryExample) {
  for (const std::string name : {"misc", "mlp_dp", "shmap"}) {
    for (const std::string stage : {"before", "after"}) {
      auto text = ReadInput(HESPAS_SOURCE_DIR "/tests/data/hlo/" + name + "." + stage + ".hlo.txt");
      ASSERT_TRUE(text);
      const auto r = Read(std::move(*text));
      ASSERT_TRUE(r.module) << name << stage << r.first_error;
      EXPECT_THAT(r.diagnostics.all(), IsEmpty());
      EXPECT_TRUE(r.module->main().valid());
    }
  }
}

}  // namespace
}  // namespace hespas::read
