// Times of blocks that were not measured, from those that were: the ratio to what a model says, by family.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/block_graph.h"
#include "ir/module.h"

namespace hespas::estimate {

struct ScaledBlock {
  std::string family;
  double modelled = 0;                  // seconds that the fallback says
  std::optional<double> measured = {};  // seconds
};

// Blocks of the same operations, however many and of whatever shapes, are one family.
std::string FamilyOf(const ir::Module& module, const graph::Block& block);

// What blocks take over what the fallback says of them, summed once over all that were measured.
class Scale {
 public:
  explicit Scale(const std::vector<ScaledBlock>& blocks);

  // Seconds of a block from all others: the fallback's, times the ratio of its family (else of all). Ratios of sums, so
  // that blocks of no weight have none.
  double Seconds(const ScaledBlock& block) const;

  // Sum of |scaled - measured| over that of measured, each block scaled from the others; nothing with fewer than two.
  std::optional<double> LeaveOneOutError() const;

 private:
  struct Sum {
    double measured = 0, modelled = 0;
  };
  static Sum Without(Sum sum, const ScaledBlock& block);

  const std::vector<ScaledBlock>& blocks_;
  std::map<std::string_view, Sum> families_;
  Sum all_;
};

// Those to measure: of each family `sample` (0: all), spread evenly over what the fallback says; known ones count.
std::vector<size_t> ChooseSample(const std::vector<ScaledBlock>& blocks, size_t sample);

}  // namespace hespas::estimate
