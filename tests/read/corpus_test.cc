// Every module of the corpus: what must be read is read with the right ops, what must be refused is refused where it is
// wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "read/read.h"
#include "report/histogram.h"

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

}  // namespace
}  // namespace hespas
