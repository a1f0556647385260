// HLO text against the MLIR that XLA's own importer and JAX make of the same programs: every dot, convolution,
// reduction and collective that runs has the same operand types in both, and so the same flops and bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "ir/op_kind.h"
#include "read/read.h"
#include "report/text/program/histogram.h"

namespace hespas {
namespace {

using Counts = std::map<std::string, int64_t>;

bool IsCompared(std::string_view name) {
  const ir::OpKind kind = ir::KindOf(name);
  const ir::OpSort sort = ir::Traits(kind).sort;
  return sort == ir::OpSort::kContraction || sort == ir::OpSort::kReduction || sort == ir::OpSort::kCollective ||
         sort == ir::OpSort::kSort || sort == ir::OpSort::kGather || sort == ir::OpSort::kScatter;
}

// Counts of "op(operand types)"; XLA's importer writes a plain dot where the dimensions are the usual ones.
Counts Compared(const std::string& file, report::Extent extent) {
  Diagnostics diagnostics;
  const auto module = read::ReadProgram(std::string(HESPAS_SOURCE_DIR) + "/tests/data/hlo/" + file, {}, diagnostics);
  EXPECT_TRUE(module.ok()) << file;
  Counts counts;
  if (!module) return counts;
  for (const auto& row : report::CountOperators(*module, {.extent = extent, .operand_types = true}).rows) {
    std::string name = row.name.substr(0, row.name.find('('));
    const std::string types = row.name.substr(name.size());
    if (name == "stablehlo.dot") name = "stablehlo.dot_general";
    if (name == "chlo.top_k") name = "mhlo.topk";
    if (IsCompared(name)) counts[name + types] += row.count;
  }
  return counts;
}

class HloTwins : public testing::TestWithParam<std::string> {};

TEST_P(HloTwins, OptimisedProgramsRunTheSameHeavyOps) {
  const Counts hlo = Compared(GetParam() + ".after.hlo.txt", report::Extent::kExpanded);
  EXPECT_FALSE(hlo.empty());
  EXPECT_EQ(hlo, Compared(GetParam() + ".after.from_hlo.mlir", report::Extent::kExpanded));
}

// Before partitioning the collectives of `shmap` are in a region of the StableHLO twin and in a called function here,
// so that everything written in the files is compared.
TEST_P(HloTwins, ExportedProgramsHoldTheSameHeavyOps) {
  const Counts hlo = Compared(GetParam() + ".before.hlo.txt", report::Extent::kAllRegions);
  EXPECT_FALSE(hlo.empty());
  EXPECT_EQ(hlo, Compared(GetParam() + ".stablehlo.mlir", report::Extent::kAllRegions));
}

INSTANTIATE_TEST_SUITE_P(Corpus, HloTwins, testing::Values("misc", "mlp_dp", "shmap"));

}  // namespace
}  // namespace hespas
