#include "report/step/throughput.h"

#include <gmock/gmock.h>

#include <string>

#include "../read_program.h"

namespace hespas::report {
namespace {

// A program of 8 partitions whose tokens have these attributes.
ir::Module Program(const std::string& type, const std::string& attributes,
                   const std::string& module = "mhlo.num_partitions = 8 : i32") {
  return Read("module @m attributes {" + module + "} {\n  sdy.mesh @mesh = <[\"data\"=2, \"tensor\"=4]>\n" +
              "  func.func @main(%arg0: tensor<" + type + "> " + attributes + ") -> tensor<" + type +
              "> {\n    return %arg0 : tensor<" + type + ">\n  }\n}\n");
}

// Tokens of each device, of a program on 8 devices.
double TokensOf(const ir::Module& module) {
  const auto found = ThroughputOf(module, 8);
  if (!found) return -1;
  EXPECT_EQ(found->unit, "tokens");
  return found->per_step;
}

constexpr const char* kTokens = "4x512xi32";

TEST(Throughput, CountsTokensOfEachShardOnce) {
  EXPECT_EQ(TokensOf(Program(kTokens, R"({mhlo.sharding = "{devices=[8,1]<=[8]}"})")), 2048);
  EXPECT_EQ(TokensOf(Program(kTokens, R"({mhlo.sharding = "{devices=[2,4]<=[8]}"})")), 2048);  // sequences are cut
  EXPECT_EQ(TokensOf(Program(kTokens, R"({mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"})")), 512);
  EXPECT_EQ(
      TokensOf(Program(kTokens, R"({mhlo.sharding = "{devices=[2,1,2,2]<=[8] last_tile_dims={manual, replicated}}"})")),
      512);
}

TEST(Throughput, CountsReplicatedTokensOnce) {
  EXPECT_EQ(TokensOf(Program(kTokens, R"({mhlo.sharding = "{replicated}"})")), 256);
}

TEST(Throughput, ReadsShardy) {
  EXPECT_EQ(TokensOf(Program(kTokens, R"({sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>})")), 512);
  EXPECT_EQ(TokensOf(Program(kTokens, R"({sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})")), 256);
  EXPECT_EQ(TokensOf(Program(kTokens, R"({sdy.sharding = #sdy.sharding<@mesh, [{"data", "tensor"}, {}]>})")), 2048);
}

TEST(Throughput, CountsReplicasWhoseDataDiffer) {
  const std::string replicas = "mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 8 : i32";
  EXPECT_EQ(TokensOf(Program(kTokens, "", replicas)), 2048);
  EXPECT_EQ(TokensOf(Program(kTokens, "{mhlo.is_same_data_across_replicas = true}", replicas)), 256);
}

TEST(Throughput, SaysNothingWhereThePartitionedProgramDoesNot) {
  EXPECT_FALSE(ThroughputOf(Program(kTokens, ""), 8).has_value());
  EXPECT_FALSE(ThroughputOf(Program(kTokens, R"({mhlo.sharding = "{manual}"})"), 8).has_value());
}

TEST(Throughput, CountsImagesRatherThanTheirLabels) {
  const ir::Module module = Read(
      "func.func @main(%images: tensor<1x64x224x224x3xf16>, %labels: tensor<1x64xi32>) -> tensor<1x64xi32> {\n"
      "  return %labels : tensor<1x64xi32>\n}\n");
  const auto found = ThroughputOf(module, 1);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->unit, "samples");
  EXPECT_EQ(found->per_step, 64);
}

}  // namespace
}  // namespace hespas::report
