// A block as a program of its own: `main` with the block's ops, and the functions that it calls.
#pragma once

#include "graph/block_graph.h"
#include "ir/module.h"

namespace hespas::graph {

// Whether fusions stay operations, or their ops stand in their places, as a compiler of StableHLO needs it.
enum class Fusions : uint8_t { kKept, kInlined };

// The new module's attribute texts are views into `module`, which must outlive it. Values that only regions of the
// block use become arguments like the others.
ir::Module BlockModule(const ir::Module& module, const Block& block, Fusions fusions = Fusions::kKept);

// What the arguments of its `main` are, in order.
std::vector<ir::ValueId> BlockInputs(const ir::Module& module, const Block& block);

// Every function of the program but `main`.
ir::Module PrivateFunctions(const ir::Module& module);

}  // namespace hespas::graph
