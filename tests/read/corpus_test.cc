// Every module of the corpus: what must be read is read with the right ops, what must be refused is refused where it is
// wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/text/digest.h"
#include "ir/printer.h"
#include "read/read.h"
#include "report/text/program/histogram.h"

namespace hespas {
namespace {

const std::string kCorpus = HESPAS_CORPUS;

std::vector<nlohmann::json> Records(const std::string& name) {
  std::vector<nlohmann::json> records;
  std::ifstream file(kCorpus + "/" + name);
  for (std::string line; std::getline(file, line);) records.push_back(nlohmann::json::parse(line));
  return records;
}

Result<ir::Module> ReadMember(const std::string& folder, const nlohmann::json& record, Diagnostics& diagnostics) {
  return read::ReadProgram(kCorpus + "/" + folder + "/" + record["name"].get<std::string>(), {}, diagnostics);
}

std::map<std::string, int64_t> Counts(const ir::Module& module) {
  std::map<std::string, int64_t> counts;
  for (const auto& row : report::CountOperators(module, {.extent = report::Extent::kAllRegions}).rows) {
    counts[row.name] = row.count;
  }
  return counts;
}

TEST(Corpus, EveryAcceptedModuleIsReadWithItsOps) {
  const auto records = Records("accept.jsonl");
  ASSERT_EQ(records.size(), 3853u);
  for (const nlohmann::json& record : records) {
    SCOPED_TRACE(record["name"]);
    Diagnostics diagnostics;
    const auto module = ReadMember("accept", record, diagnostics);
    if (!module) {
      ADD_FAILURE() << Render(module.error());
      continue;
    }
    auto counts = Counts(*module);
    if (record["oracle"] == "iree-opt") counts.erase("stablehlo.cross-replica-sum");  // see the corpus' README
    EXPECT_EQ(counts, (record["op_hist"].get<std::map<std::string, int64_t>>()));
  }
}

// The fraction of the cases of a class that are refused, at the right line where the record confirms one.
struct Refusals {
  size_t cases = 0;
  size_t refused = 0;
};

std::map<std::string, Refusals> CountRefusals() {
  std::map<std::string, Refusals> classes;
  for (const nlohmann::json& record : Records("reject.jsonl")) {
    Diagnostics diagnostics;
    const bool refused = !ReadMember("reject", record, diagnostics).ok();
    const bool line_known = record["confirmed"].get<std::string>().starts_with("line");
    const bool right = refused && diagnostics.has_errors() &&
                       (!line_known || diagnostics.all()[0].location.line == record["error_line"].get<size_t>());
    Refusals& row = classes[record["klass"]];
    ++row.cases;
    row.refused += right;
    if (!right) std::printf("not refused as it should be: %s\n", record["name"].get<std::string>().c_str());
  }
  return classes;
}

TEST(Corpus, DefectsAreRefusedWhereTheyAre) {
  const auto classes = CountRefusals();
  size_t cases = 0;
  for (const auto& [name, row] : classes) {
    std::printf("%-12s %zu of %zu\n", name.c_str(), row.refused, row.cases);
    EXPECT_EQ(row.refused, row.cases) << name;
    cases += row.cases;
  }
  EXPECT_EQ(cases, 645u);
}

TEST(Corpus, GenericPrintReadsBackToTheSame) {
  for (const nlohmann::json& record : Records("accept.jsonl")) {
    SCOPED_TRACE(record["name"]);
    Diagnostics diagnostics;
    const auto module = ReadMember("accept", record, diagnostics);
    if (!module) continue;  // reported above
    const std::string printed = ir::PrintGeneric(*module);
    const auto again = read::ReadText("printed.mlir", printed, {}, diagnostics);
    if (!again) {
      ADD_FAILURE() << Render(again.error());
      continue;
    }
    EXPECT_EQ(again->op_count(), module->op_count());
    EXPECT_EQ(ir::PrintGeneric(*again), printed);
  }
}

// MLIR moves affine maps of a module's attributes into aliases at the top; we print them in place.
const std::set<std::string> kPrintedDifferently = {"tests__vhlo__stablehlo_legalize_to_vhlo_mixed.1.mlir",
                                                   "tests__vhlo__stablehlo_legalize_to_vhlo_mixed.2.mlir"};

TEST(Corpus, GenericPrintIsMlirs) {
  size_t compared = 0;
  std::set<std::string> different;
  for (const nlohmann::json& record : Records("accept.jsonl")) {
    if (record["kind"] != "asis" || !record.contains("generic_sha256")) continue;
    Diagnostics diagnostics;
    const auto module = ReadMember("accept", record, diagnostics);
    if (!module) continue;  // reported above
    ++compared;
    if (Sha256Hex(ir::PrintGeneric(*module)) != record["generic_sha256"]) different.insert(record["name"]);
  }
  EXPECT_EQ(compared, 2894u);
  EXPECT_EQ(different, kPrintedDifferently);
}

}  // namespace
}  // namespace hespas
