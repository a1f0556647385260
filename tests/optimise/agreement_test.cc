// Agreement with XLA's own optimised programs, summarised into tests/data/optimise/*.json by summarise_oracles.py.
#include <fstream>
#include <nlohmann/json.hpp>

#include "programs.h"

namespace hespas {
namespace {

struct Pair {
  const char* name;
  const char* program;
  const char* oracle;
  optimise::Target target;
};

std::string DataPath(const std::string& name) {
  return std::string(HESPAS_SOURCE_DIR) + "/tests/data/optimise/" + name;
}

class Agreement : public testing::TestWithParam<Pair> {
 protected:
  void SetUp() override {
    std::ifstream file(DataPath(GetParam().oracle));
    oracle_ = nlohmann::json::parse(file);
    Diagnostics diagnostics;
    const std::string program = std::string(HESPAS_SOURCE_DIR) + "/" + GetParam().program;
    auto module = read::ReadProgram(program, {}, diagnostics);
    ASSERT_TRUE(module) << Render(module.error());
    summary_ = optimise::Summarise(Optimised(std::move(*module), {.target = GetParam().target}));
  }

  static double Ratio(double ours, const nlohmann::json& theirs) { return ours / theirs.get<double>(); }

  nlohmann::json oracle_;
  optimise::Summary summary_;
};

TEST_P(Agreement, KernelsWithinTenPercent) {
  EXPECT_NEAR(Ratio(static_cast<double>(summary_.total()), oracle_["kernels"]["total"]), 1, 0.10);
}

TEST_P(Agreement, BytesWithinEightPercent) {
  EXPECT_NEAR(Ratio(static_cast<double>(summary_.bytes_accessed), oracle_["bytes_accessed"]), 1, 0.08);
}

TEST_P(Agreement, FlopsWithinOnePercent) {
  if (oracle_["flops"] == 0) return;  // dots are written as convolutions there
  EXPECT_NEAR(Ratio(static_cast<double>(summary_.flops), oracle_["flops"]), 1, 0.01);
}

TEST_P(Agreement, CollectivesByKind) {
  ASSERT_EQ(summary_.collectives.size(), oracle_["collectives"].size());
  for (size_t i = 0; i < summary_.collectives.size(); ++i) {
    const nlohmann::json& theirs = oracle_["collectives"][i];
    EXPECT_EQ(summary_.collectives[i].op, theirs["op"].get<std::string>());
    EXPECT_NEAR(Ratio(static_cast<double>(summary_.collectives[i].count), theirs["count"]), 1, 0.10) << theirs["op"];
    EXPECT_NEAR(Ratio(static_cast<double>(summary_.collectives[i].bytes), theirs["bytes"]), 1, 0.05) << theirs["op"];
  }
}

INSTANTIATE_TEST_SUITE_P(PublicPairs, Agreement,
                         testing::Values(Pair{"Llama100mA100", "examples/llama3-100m-4dev.mlir.gz",
                                              "llama3-100m-4dev.gpu_a100_sxm_40.json", optimise::Target::kGpu},
                                         Pair{"Llama500mA100", "tests/data/optimise/llama3-500m-4dev.mlir.gz",
                                              "llama3-500m-4dev.gpu_a100_sxm_40.json", optimise::Target::kGpu},
                                         Pair{"Llama100mTpuV3", "tests/data/optimise/llama3-100m-8dev.mlir.gz",
                                              "llama3-100m-8dev.tpuv3.json", optimise::Target::kTpu}),
                         [](const auto& pair) { return std::string(pair.param.name); });

}  // namespace
}  // namespace hespas
