// EstimateTable: one estimate for each distinct block, and what reuse that saved.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "graph/block_graph.h"
#include "graph/estimate.h"

namespace hespas::graph {

struct ReuseStatistics {
  size_t blocks = 0;    // compute blocks
  size_t unique = 0;    // distinct ones
  size_t computed = 0;  // estimated in this run; the others of `unique` came from the cache
  size_t ops = 0;       // of all compute blocks, calls and fusions expanded
  size_t reused_ops = 0;

  size_t hits() const { return blocks - unique; }
};

struct EstimateTable {
  static constexpr uint32_t kNone = 0xFFFFFFFFu;

  std::vector<Estimate> unique;
  std::vector<uint32_t> of_block;  // index into `unique`, by block id; kNone for communication
  std::vector<BlockId> first;      // the first block of each distinct structure
  ReuseStatistics reuse;

  // nullptr for communication blocks.
  const Estimate* Of(BlockId block) const {
    const uint32_t at = of_block[block.index()];
    return at == kNone ? nullptr : &unique[at];
  }
};

// How often a step executes each distinct block.
inline std::vector<int64_t> Uses(const BlockGraph& graph, const EstimateTable& table) {
  std::vector<int64_t> uses(table.unique.size());
  for (size_t i = 0; i < table.of_block.size(); ++i) {
    int64_t* use = table.of_block[i] == EstimateTable::kNone ? nullptr : &uses[table.of_block[i]];
    if (use != nullptr) *use = internal::SaturatingAdd(*use, graph.blocks[i].repeats);
  }
  return uses;
}

}  // namespace hespas::graph
