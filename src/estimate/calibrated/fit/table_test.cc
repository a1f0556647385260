#include "estimate/calibrated/fit/table.h"

#include <gmock/gmock.h>

#include "base/system/file.h"

namespace hespas::estimate::calibrated {
namespace {

Parameters Shipped() {
  const std::string file = std::string(HESPAS_SOURCE_DIR) + "/data/models/calibrated.json";
  return *ReadParameters(*ReadInput(file), file);
}

hardware::Device SomeDevice() {
  hardware::Device device;
  device.family = "gpu";
  device.sm_count = 100;
  device.clock_hz = 1.5e9;
  device.per_datatype_flops = {{"f32", {2e13}}, {"bf16", {3e14}}};
  device.memory_bandwidth = {1.5e12};
  return device;
}

CsvTable Predicted(const std::string& text, Diagnostics& diagnostics) {
  auto table = *ParseCsv(text, "t.csv");
  const KernelModel model(SomeDevice(), Shipped());
  AddPredictions(table, *PredictKernels(table, "t.csv", model, diagnostics));
  return table;
}

TEST(KernelTable, KeepsRowsAndForeignColumns) {
  Diagnostics diagnostics;
  const auto table = Predicted(
      "note,op,dtype,b,m,n,k,dispatch_us\n"
      "x,gemm,bf16,1,512,512,512,\ny,add,f32,4096,,1024.0,,30\nz,frobnicate,f32,1,,1,,\n,softmax,f99,8,,8,,\n,bmm,f32,"
      "4,,8,8,\n",
      diagnostics);
  EXPECT_THAT(table.columns, ::testing::ElementsAre("note", "op", "dtype", "b", "m", "n", "k", "dispatch_us",
                                                    "predicted_us", "sigma_us"));
  ASSERT_EQ(table.rows.size(), 5u);
  EXPECT_EQ(table.rows[0][0], "x");
  EXPECT_GT(*CsvNumber(table.rows[0][8]), 0);
  EXPECT_GT(*CsvNumber(table.rows[1][8]), 30);  // never below the host's floor
  for (const size_t row : {2u, 3u, 4u}) EXPECT_EQ(table.rows[row][8], "");
  EXPECT_EQ(diagnostics.all().size(), 3u);
  EXPECT_FALSE(diagnostics.has_errors());
  EXPECT_EQ(diagnostics.all()[0].location.line, 4u);
}

TEST(KernelTable, LongNamesMeanTheSame) {
  Diagnostics diagnostics;
  const auto table =
      Predicted("op,dtype,b,n\nln,f32,100,768\nLayerNorm,f32,100,768\naddu,f32,9,9\nadd_scalar,f32,9,9\n", diagnostics);
  EXPECT_EQ(table.rows[0][4], table.rows[1][4]);
  EXPECT_EQ(table.rows[2][4], table.rows[3][4]);
}

TEST(KernelTable, TypesAreReadAsTheirAuthorsWriteThem) {
  Diagnostics diagnostics;
  const auto same = [&](Datatype type, const std::vector<std::string>& names) {
    for (const std::string& name : names) EXPECT_EQ(ParseDatatype(name), type) << name;
  };
  same(Datatype::kF8, {"f8E4M3FN", "f8e4m3fn", "F8E5M2", "fp8", "float8_e4m3fn", "e4m3"});
  same(Datatype::kF4, {"f4E2M1FN", "fp4"});
  same(Datatype::kBf16, {"bf16", "BF16", "bfloat16"});
  same(Datatype::kF16, {"f16", "half", "float16"});
  same(Datatype::kF32, {"f32", "float32", "fp32", "float"});
  same(Datatype::kF64, {"f64", "fp64", "double"});
  same(Datatype::kTf32, {"tf32", "TF32"});
  same(Datatype::kI8, {"i8", "s8", "si8", "u8", "ui8", "int8", "uint8"});
  same(Datatype::kI1, {"i1", "pred", "bool"});
  for (const char* name : {"", "f", "f99", "bf8", "q8", "16", "f40", "f600"})
    EXPECT_EQ(ParseDatatype(name), std::nullopt) << name;
}

TEST(KernelTable, TypesOfMatmulsNameTheirResult) {
  Diagnostics diagnostics;
  const auto table = Predicted(
      "dtypes,b,m,n,k\nf8e4m3fnxf8e4m3fn->bf16,1,4096,4096,256\nf8E4M3FNxf8E5M2->f16,1,4096,4096,256\n"
      "f8e4m3fnxf8e4m3fn->f32,1,4096,4096,256\n",
      diagnostics);
  EXPECT_TRUE(diagnostics.all().empty());
  EXPECT_EQ(table.rows[0][5], table.rows[1][5]);
  EXPECT_GT(*CsvNumber(table.rows[2][5]), *CsvNumber(table.rows[0][5]));  // more bytes to write
}

TEST(KernelTable, WithoutOperationsIsRefused) {
  Diagnostics diagnostics;
  const auto table = *ParseCsv("m,n\n1,2\n", "t.csv");
  const KernelModel model(SomeDevice(), Shipped());
  const auto predictions = PredictKernels(table, "t.csv", model, diagnostics);
  ASSERT_FALSE(predictions.ok());
  EXPECT_EQ(predictions.error().kind, &kMissingColumn);
}

TEST(CollectiveTable, AcceptsTheUsualSpellings) {
  Diagnostics diagnostics;
  auto table = *ParseCsv(
      "op,dtype,groups,N,bytes\nall-reduce,f32,1,8,1e6\nall_reduce,f32,1,8,1000000\nbarter,f32,1,8,1\n", "c.csv");
  const CollectiveModel model(SomeDevice(), Shipped());
  const auto predictions = PredictCollectives(table, "c.csv", model, diagnostics);
  ASSERT_TRUE(predictions.ok());
  EXPECT_EQ((*predictions)[0]->us, (*predictions)[1]->us);
  EXPECT_FALSE((*predictions)[2].has_value());
}

}  // namespace
}  // namespace hespas::estimate::calibrated
