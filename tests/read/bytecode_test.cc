// Bytecode and portable artifacts: every file of the corpus, their text twins, and damaged files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "base/system/file.h"
#include "read/read.h"
#include "report/text/program/histogram.h"

namespace hespas {
namespace {

const std::string kFolder = std::string(HESPAS_CORPUS) + "/bytecode/";

std::map<std::string, int64_t> Counts(const ir::Module& module, report::Extent extent) {
  std::map<std::string, int64_t> counts;
  for (const auto& row : report::CountOperators(module, {.extent = extent}).rows) counts[row.name] = row.count;
  return counts;
}

Result<ir::Module> ReadFile(const std::string& path) {
  Diagnostics diagnostics;
  return read::ReadProgram(path, {}, diagnostics);
}

TEST(Bytecode, EveryFileIsReadWithItsOps) {
  std::ifstream file(std::string(HESPAS_CORPUS) + "/bytecode.jsonl");
  size_t files = 0;
  for (std::string line; std::getline(file, line); ++files) {
    const auto record = nlohmann::json::parse(line);
    SCOPED_TRACE(record["name"]);
    const auto module = ReadFile(kFolder + record["name"].get<std::string>());
    if (!module) {
      ADD_FAILURE() << Render(module.error());
      continue;
    }
    EXPECT_EQ(Counts(*module, report::Extent::kAllRegions), (record["op_hist"].get<std::map<std::string, int64_t>>()));
  }
  EXPECT_EQ(files, 56u);
}

struct Twin {
  const char* bytecode;
  const char* text;
};

class BytecodeTwins : public testing::TestWithParam<Twin> {};

// Operand and result types count too, so that edges and shapes have to agree.
TEST_P(BytecodeTwins, AnalyseAlike) {
  const auto binary = ReadFile(kFolder + GetParam().bytecode + ".mlirbc");
  const auto text = ReadFile(std::string(HESPAS_SOURCE_DIR) + "/tests/data/" + GetParam().text);
  ASSERT_TRUE(binary) << Render(binary.error());
  ASSERT_TRUE(text) << Render(text.error());
  EXPECT_EQ(Counts(*binary, report::Extent::kMain), Counts(*text, report::Extent::kMain));
  EXPECT_EQ(Counts(*binary, report::Extent::kExpanded), Counts(*text, report::Extent::kExpanded));
  const report::HistogramOptions typed{.extent = report::Extent::kExpanded, .operand_types = true};
  EXPECT_EQ(report::ToJson(report::CountOperators(*binary, typed)),
            report::ToJson(report::CountOperators(*text, typed)));
}

INSTANTIATE_TEST_SUITE_P(All, BytecodeTwins,
                         testing::Values(Twin{"convolution.native", "fixtures/convolution.mlir.gz"},
                                         Twin{"convolution.vhlo_1.0.0", "fixtures/convolution.mlir.gz"},
                                         Twin{"custom_call_topk.vhlo_1.17.0", "fixtures/custom_call_topk.mlir.gz"},
                                         Twin{"jax_example.native", "fixtures/jax_example.mlir.gz"},
                                         Twin{"jax_example.vhlo_1.9.0", "fixtures/jax_example.mlir.gz"},
                                         Twin{"resnet_50_train_step_4_devices_1024_batch.native",
                                              "fixtures/resnet_50_train_step_4_devices_1024_batch.mlir.gz"},
                                         Twin{"resnet_50_train_step_4_devices_1024_batch.vhlo_1.0.0",
                                              "fixtures/resnet_50_train_step_4_devices_1024_batch.mlir.gz"},
                                         Twin{"test_split_replica_groups.vhlo_1.17.0",
                                              "fixtures/test_split_replica_groups.mlir.gz"},
                                         Twin{"misc.stablehlo.native", "hlo/misc.stablehlo.mlir"},
                                         Twin{"shmap.stablehlo.native", "hlo/shmap.stablehlo.mlir"}),
                         [](const auto& twin) {
                           std::string name = twin.param.bytecode;
                           for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

Result<ir::Module> ReadBytes(std::string bytes, Diagnostics& diagnostics) {
  return read::ReadText("damaged.mlirbc", std::move(bytes), {}, diagnostics);
}

TEST(Bytecode, TruncatedFilesAreErrors) {
  const auto whole = ReadInput(kFolder + "jax_example.vhlo_1.9.0.mlirbc");
  ASSERT_TRUE(whole);
  for (size_t size = 4; size < whole->size(); size += 7) {
    Diagnostics diagnostics;
    EXPECT_FALSE(ReadBytes(whole->substr(0, size), diagnostics)) << size;
    EXPECT_TRUE(diagnostics.has_errors());
  }
}

// Flipped bytes may leave a sound file; what counts is that it is read or refused, and that a refusal says why.
TEST(Bytecode, FlippedBytesAreReadOrRefused) {
  const auto whole = ReadInput(kFolder + "shmap.stablehlo.native.mlirbc");
  ASSERT_TRUE(whole);
  size_t refused = 0;
  for (size_t at = 4; at < whole->size(); ++at) {
    std::string bytes = *whole;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << (at % 8)));
    Diagnostics diagnostics;
    const bool read = ReadBytes(std::move(bytes), diagnostics).ok();
    EXPECT_EQ(read, !diagnostics.has_errors());
    refused += !read;
  }
  EXPECT_GT(refused, 100u);
}

TEST(Bytecode, NewerVersionsSayWhichCanBeRead) {
  const auto whole = ReadInput(kFolder + "convolution.vhlo_1.9.0.mlirbc");
  ASSERT_TRUE(whole);
  std::string newer = *whole;
  newer[newer.find("v1.9.0") + 1] = '2';
  Diagnostics diagnostics;
  const auto module = ReadBytes(newer, diagnostics);
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().kind->code, "E0303");
  EXPECT_THAT(Render(module.error()), testing::HasSubstr("0.9 to 1.20"));
  std::string container = *whole;
  container[4] = static_cast<char>(7 << 1 | 1);  // bytecode version 7
  Diagnostics more;
  EXPECT_EQ(ReadBytes(container, more).error().kind->code, "E0303");
}

}  // namespace
}  // namespace hespas
