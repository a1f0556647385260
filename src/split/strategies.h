// Which ops form which block, and which blocks wait for which: the parts of Split.
#pragma once

#include <vector>

#include "graph/block_graph.h"
#include "ir/module.h"
#include "split/program.h"
#include "split/schedule.h"
#include "split/split.h"

namespace hespas::split {

// Cuts the program at separators and after `block_limit` ops; each block waits for the one before it, or
// before a send whose token no op takes.
std::vector<graph::Block> SplitLinear(const ir::Module& module, const Program& program, const Schedule& schedule,
                                      const Options& options);

// One block per op; each waits for the producers of what it uses. Constants are copied into compute blocks.
std::vector<graph::Block> SplitIndividual(const ir::Module& module, const Program& program, const Schedule& schedule,
                                          std::vector<RepeatedLoop>& loops);

// Joins compute blocks that need the same communication before them and have the same communication after them, so
// that nothing waits for more communication than before and no communication waits longer for its input.
std::vector<graph::Block> MergeBlocks(const ir::Module& module, std::vector<graph::Block> blocks);

// A constant or another op without operands whose value every user can make for itself.
bool IsCopyable(const ir::Module& module, ir::OpId op);

}  // namespace hespas::split
