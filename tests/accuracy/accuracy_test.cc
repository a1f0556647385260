// Errors on the public measurements against data/measured/bounds.json.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "driver/figures/uncertainty.h"
#include "validate/bounds.h"
#include "validate/validation.h"

namespace hespas::driver {
namespace {

const validate::Validation& Suite() {
  static const validate::Validation suite = [] {
    Diagnostics diagnostics;
    auto measured = validate::Validate({.hold = true}, diagnostics);
    EXPECT_TRUE(measured.has_value());
    for (const Diagnostic& diagnostic : diagnostics.all()) {
      if (!diagnostic.is_warning()) ADD_FAILURE() << diagnostic.message;
    }
    return measured.value_or(validate::Validation{});
  }();
  return suite;
}

// What is missed is reported above; here, that nothing is omitted.
TEST(Bounds, EachPublicSetIsHeldWithAllItsRows) {
  std::map<std::string, std::string> rows;
  for (const auto& row : Suite().bounds.rows) rows[row[0]] = row[2];
  EXPECT_EQ(rows["H100 bf16 matmuls"], "375");
  EXPECT_EQ(rows["MI300X bf16 matmuls"], "375");
  EXPECT_EQ(rows["published errors, matmuls of B200"], "6");
  EXPECT_EQ(rows["published errors, matmuls of Rubin and MI355X"], "6");
  EXPECT_EQ(rows["published errors, FP32 matmuls of H100 and A100-80"], "4");
  EXPECT_EQ(rows["FP32 linear"], "2080");
  EXPECT_EQ(rows["FP32 bmm"], "2353");
  EXPECT_EQ(rows["elementwise"], "1365");
  EXPECT_EQ(rows["softmax and norms"], "314");
  EXPECT_EQ(rows["nodes in models, A100-40 and V100"], "266");
  EXPECT_EQ(rows["whole models"], "12");
  EXPECT_EQ(rows["collectives above 64 MiB"], "276");
  EXPECT_EQ(rows["LLaMA-3 steps of 0.10 s and more"], "9");
  EXPECT_EQ(rows["ResNet steps"], "5");
}

TEST(Bounds, ABoundThatNoRowOfItsSetMatchesIsMissed) {
  validate::Groups groups;
  Diagnostics other;
  groups[{.set = "ours", .mode = "shipped", .device = "H100_80GB", .op = "renamed"}] = {
      {.measured = 1, .predicted = 1}};
  EXPECT_TRUE(validate::CheckBounds(groups, other)->empty());
  EXPECT_FALSE(other.has_errors());  // its sets were not asked for
  Diagnostics missed;
  groups[{.set = "serving", .mode = "shipped", .device = "H100_80GB", .op = "renamed"}] = {
      {.measured = 1, .predicted = 1}};
  EXPECT_TRUE(validate::CheckBounds(groups, missed)->empty());
  ASSERT_TRUE(missed.has_errors());
  EXPECT_THAT(missed.all().front().message, testing::HasSubstr("no measurement of its set"));
}

struct Coverage {
  double one = 0;
  double two = 0;
};

Coverage Covered(const std::string& set, const std::vector<std::string>& ops) {
  Coverage covered;
  double count = 0;
  for (const validate::AccuracyRow& row : Suite().rows) {
    if (row.set != set || std::find(ops.begin(), ops.end(), row.op) == ops.end()) continue;
    const auto rows = static_cast<double>(row.count);
    count += rows;
    covered.one += rows * row.within_one_sigma;
    covered.two += rows * row.within_two_sigma;
  }
  return {.one = covered.one / count, .two = covered.two / count};
}

TEST(Uncertainty, TwoThirdsFallWithinOneSigmaAndNineTenthsWithinTwo) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> families = {{"gemm", {"bf16"}},
                                                                                  {"gemm", {"tf32"}},
                                                                                  {"kernels", {"linear"}},
                                                                                  {"kernels", {"bmm"}},
                                                                                  {"kernels", {"elementwise"}},
                                                                                  {"kernels", {"softmax", "ln"}},
                                                                                  {"nodes", {"linear"}},
                                                                                  {"nodes", {"bmm"}},
                                                                                  {"nodes", {"elementwise"}},
                                                                                  {"nodes", {"softmax", "ln"}},
                                                                                  {"collectives", {"above 64 MiB"}},
                                                                                  {"collectives", {"1-64 MiB"}},
                                                                                  {"collectives", {"up to 1 MiB"}}};
  for (const auto& [set, ops] : families) {
    const Coverage covered = Covered(set, ops);
    EXPECT_GE(covered.one, 0.60) << set << " " << ops[0];
    EXPECT_LE(covered.one, 0.75) << set << " " << ops[0];
    EXPECT_GE(covered.two, 0.90) << set << " " << ops[0];
  }
}

TEST(CorrelatedSigma, ErrorsOfAFamilyAddAndThoseOfTwoDoNot) {
  CorrelatedSigma one;
  one.Add(0, 3);
  one.Add(0, 4);
  EXPECT_DOUBLE_EQ(one.Total(1), 7);
  EXPECT_DOUBLE_EQ(one.Total(0), 5);
  CorrelatedSigma two;
  two.Add(0, 1, 3);  // a repeated block errs alike
  two.Add(1, 2, 2);
  EXPECT_DOUBLE_EQ(two.Total(1), 5);
  EXPECT_DOUBLE_EQ(two.Total(0), 5);
}

TEST(Baselines, TheModelBeatsTheRooflineOnEverySet) {
  for (const validate::AccuracyRow& row : Suite().rows) {
    if (!row.roofline) continue;
    EXPECT_LT(row.model.mean, row.roofline->mean) << row.set << " " << row.device << " " << row.op;
  }
}

}  // namespace
}  // namespace hespas::driver
