// Blocks: runs of ops that are estimated as one unit, and the order in which they depend on each other.
//
// - Every op of `main` (its terminator aside) is in exactly one block; constants may be copied into their users.
// - Predecessors come before their successors; ids follow program order.
// - A communication block holds exactly one collective or point-to-point op (merged ones under --compat aside).
#pragma once

#include <cstdint>
#include <vector>

#include "base/id.h"
#include "base/repeated_loop.h"
#include "base/text/hash.h"
#include "ir/module.h"

namespace hespas::graph {

HESPAS_ID(BlockId);

enum class BlockKind : uint8_t { kCompute, kCommunication };

struct Block {
  BlockKind kind = BlockKind::kCompute;
  std::vector<ir::OpId> ops;          // program order; copied constants first
  std::vector<ir::ValueId> inputs;    // values from outside, captured ones included, in order of first use
  std::vector<ir::ValueId> outputs;   // values used outside (or returned)
  std::vector<BlockId> predecessors;  // ascending, without repetition
  int64_t repeats = 1;                // executions that the block represents
  Hash128 hash;                       // equal for blocks of equal structure: ops, attributes, types, wiring, callees
};

struct BlockGraph {
  const ir::Module* module = nullptr;
  std::vector<Block> blocks;
  std::vector<RepeatedLoop> loops;
  size_t edge_count() const;
  bool communicates() const;  // any block of it
};

}  // namespace hespas::graph
