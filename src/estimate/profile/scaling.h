// Times of blocks that were not measured, from those that were: the ratio to what a model says, by family.
#pragma once

#include <optional>
#include <string>
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

// Seconds of block `at` from all others: the fallback's, times what its family takes over what the fallback says of it
// (else all that were measured). Sums, so that blocks of no weight have none.
double ScaledSeconds(const std::vector<ScaledBlock>& blocks, size_t at);

// Sum of |scaled - measured| over that of measured, each block scaled from the others; nothing with fewer than two.
std::optional<double> LeaveOneOutError(const std::vector<ScaledBlock>& blocks);

// Those to measure: of each family `sample` (0: all), spread evenly over what the fallback says; known ones count.
std::vector<size_t> ChooseSample(const std::vector<ScaledBlock>& blocks, size_t sample);

}  // namespace hespas::estimate
