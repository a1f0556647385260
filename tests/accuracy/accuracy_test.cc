// Mean errors on the public measurements, set by set. A bound may only be lowered.
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "driver/validation.h"

namespace hespas::driver {
namespace {

const std::vector<AccuracyRow>& Suite() {
  static const std::vector<AccuracyRow> rows = [] {
    Diagnostics diagnostics;
    auto measured = Validate("", diagnostics);
    EXPECT_TRUE(measured.has_value());
    EXPECT_FALSE(diagnostics.has_errors());
    return measured.value_or(std::vector<AccuracyRow>{});
  }();
  return rows;
}

struct Pooled {
  size_t count = 0;
  double mean = 0;
  double bias = 0;
};

// All groups of a set and op together, each row of the data counting once.
Pooled Pool(const std::string& set, const std::string& op, const std::string& device = {}) {
  Pooled pooled;
  for (const AccuracyRow& row : Suite()) {
    if (row.set != set || row.op != op || (!device.empty() && row.device != device)) continue;
    pooled.count += row.count;
    pooled.mean += row.model.mean * static_cast<double>(row.count);
    pooled.bias += row.model.bias * static_cast<double>(row.count);
  }
  pooled.mean /= static_cast<double>(pooled.count);
  pooled.bias /= static_cast<double>(pooled.count);
  return pooled;
}

struct Bound {
  const char* set;
  const char* op;
  const char* device;
  size_t rows;
  double mean;  // percent
};

class Accuracy : public ::testing::TestWithParam<Bound> {};

TEST_P(Accuracy, StaysWithinItsBound) {
  const Bound& bound = GetParam();
  const Pooled pooled = Pool(bound.set, bound.op, bound.device);
  EXPECT_EQ(pooled.count, bound.rows);
  EXPECT_LE(100 * pooled.mean, bound.mean);
  EXPECT_LE(std::abs(pooled.bias), 0.7 * pooled.mean);
}

INSTANTIATE_TEST_SUITE_P(
    PublicSets, Accuracy,
    ::testing::Values(Bound{"gemm", "bf16", "H100_80GB", 375, 4.0}, Bound{"gemm", "bf16", "MI300X", 375, 10.0},
                      Bound{"kernels", "linear", "", 2080, 8.0}, Bound{"kernels", "bmm", "", 2353, 7.0},
                      Bound{"kernels", "elementwise", "", 1365, 6.0}, Bound{"kernels", "softmax", "", 157, 15.0},
                      Bound{"kernels", "ln", "", 157, 15.0}, Bound{"collectives", "above 64 MiB", "", 276, 6.0},
                      Bound{"collectives", "1-64 MiB", "", 276, 10.0},
                      Bound{"collectives", "up to 1 MiB", "", 505, 18.0}));

struct Coverage {
  double one = 0;
  double two = 0;
};

Coverage Covered(const std::string& set, const std::vector<std::string>& ops) {
  Coverage covered;
  double count = 0;
  for (const AccuracyRow& row : Suite()) {
    if (row.set != set || std::find(ops.begin(), ops.end(), row.op) == ops.end()) continue;
    const auto rows = static_cast<double>(row.count);
    count += rows;
    covered.one += rows * row.within_one_sigma;
    covered.two += rows * row.within_two_sigma;
  }
  return {.one = covered.one / count, .two = covered.two / count};
}

TEST(Uncertainty, TwoThirdsFallWithinOneSigmaAndNineTenthsWithinTwo) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> families = {
      {"gemm", {"bf16"}},
      {"kernels", {"linear"}},
      {"kernels", {"bmm"}},
      {"kernels", {"elementwise"}},
      {"kernels", {"softmax", "ln"}},
      {"collectives", {"above 64 MiB", "1-64 MiB", "up to 1 MiB"}}};
  for (const auto& [set, ops] : families) {
    const Coverage covered = Covered(set, ops);
    EXPECT_GE(covered.one, 0.60) << set << " " << ops[0];
    EXPECT_LE(covered.one, 0.75) << set << " " << ops[0];
    EXPECT_GE(covered.two, 0.90) << set << " " << ops[0];
  }
}

TEST(Baselines, TheModelBeatsTheRooflineOnEverySet) {
  for (const AccuracyRow& row : Suite()) {
    if (!row.roofline) continue;
    EXPECT_LT(row.model.mean, row.roofline->mean) << row.set << " " << row.device << " " << row.op;
  }
}

}  // namespace
}  // namespace hespas::driver
